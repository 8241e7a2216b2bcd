import test from 'ava'
import { newDomain, rrset, sendHeld } from '../support/clients/api.ts'
import { keyFor, messageOf, rcodeOf, sendByTcp, sendTo, signedWith } from '../support/clients/dns-update.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { eventually } from '../support/eventually.ts'
import { useServers } from '../support/harness.ts'
import { freePort } from '../support/servers/ports.ts'
import { unrepaired } from '../support/state/marks.ts'

const servers = useServers()

test.serial('on SIGTERM while PowerDNS hangs, the write is answered 503, and the exit code is 0', async (t) => {
  const service = await servers().start()
  const name = 'hanging.example'
  await service.api.post('/domains/', { name })
  const write = () => service.api.post(`/domains/${name}/rrsets/`, rrset())
  const { answering, release } = await sendHeld(servers(), 'PATCH', write)
  release('hang')
  service.signal('SIGTERM')
  t.is((await answering).status, 503)
  t.is(await service.ended, 0)
  t.deepEqual(await unrepaired(servers()), [name])
  await servers().start()
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
})

test.serial('on SIGTERM, updates in work are carried out and answered, and no others are begun', async (t) => {
  const port = await freePort()
  const service = await servers().start({ DNS_UPDATE_PORT: String(port) })
  const zone = await newDomain(service.api)
  const key = await keyFor(service.api, servers().owner.tokenId)
  const update = (label: string) => {
    const added = { name: `${label}.${zone}`, type: 1, ttl: 3_600, data: Buffer.from([192, 0, 2, 1]) }
    return signedWith(key, messageOf({ question: { name: zone, type: 6 }, sections: [[], [added], []] })).message
  }
  const { answering, release } = await sendHeld(servers(), 'PATCH', () => sendTo(port, update('begun'), 20_000))
  const waiting = sendByTcp(port, { messages: [update('waits')] })
  await new Promise((resolve) => setTimeout(resolve, 500))
  service.signal('SIGTERM')
  await eventually(() => sendTo(port, update('late'), 100).then((answer) => answer === undefined))
  release('pass')
  t.is(rcodeOf(await answering), 'NOERROR')
  const told = (await waiting.catch(() => [])).map(rcodeOf)[0]
  t.is(await service.ended, 0)
  const { api } = await servers().start()
  const statusOf = async (label: string) => (await api.get(`/domains/${zone}/rrsets/${label}/A/`)).status
  t.is(await statusOf('begun'), 200)
  t.is(await statusOf('waits'), told === 'NOERROR' ? 200 : 404, told)
  t.is(await statusOf('late'), 404)
})
