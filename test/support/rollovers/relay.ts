import { createSocket, type Socket as Udp } from 'node:dgram'
import { once } from 'node:events'
import { connect, createServer, type Server as Tcp, type Socket } from 'node:net'
import type { Server } from '../dns/dns.ts'
import { ownNetwork } from '../servers/ports.ts'

/** Another address of a nameserver, which a test can make unreachable. */
export interface Relay extends Server {
  shut(): Promise<void>
  open(): Promise<void>
}

export async function startRelay({ dnsHost, dnsPort }: Server): Promise<Relay> {
  const address = `${ownNetwork()}1`
  let udp: Udp
  let tcp: Tcp
  const sockets = new Set<Socket>()
  const relay: Relay = {
    dnsHost: address,
    dnsPort,
    async open() {
      udp = createSocket('udp4').on('message', (question, from) => {
        const onward = createSocket('udp4')
        onward.on('message', (answer) => {
          udp.send(answer, from.port, from.address, () => onward.close())
        })
        onward.send(question, dnsPort, dnsHost)
      })
      tcp = createServer((incoming) => {
        const onward = connect(dnsPort, dnsHost)
        for (const [from, to] of [[incoming, onward], [onward, incoming]] as const) {
          sockets.add(from)
          from.on('error', () => undefined).on('close', () => {
            sockets.delete(from)
            to.destroy()
          })
          from.pipe(to)
        }
      }) // prettier-ignore
      udp.bind(dnsPort, address)
      tcp.listen(dnsPort, address)
      await Promise.all([once(udp, 'listening'), once(tcp, 'listening')])
    },
    async shut() {
      udp.close()
      tcp.close()
      for (const socket of sockets) socket.destroy()
      await Promise.all([once(udp, 'close'), once(tcp, 'close')])
    },
  }
  await relay.open()
  return relay
}
