import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { newFolder } from '../../support/servers/folders.ts'
import { listen } from '../../support/servers/ports.ts'
import type { Program } from '../../support/servers/programs.ts'
import type { Place } from './clients.ts'
import { run, start } from './programs.ts'

/** A real ACME server, which validates over our nameserver. */
export interface Pebble {
  /** The URL of the ACME directory. */
  directory: string
  /** The file with its root certificate. */
  root: string
  /** Its output so far. */
  output: () => string
  stop: () => Promise<void>
}

/** No random delays or rejected nonces, and every order is validated. */
const ENVIRONMENT = { PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0', PEBBLE_AUTHZREUSE: '0' }

export async function startPebble({ authority, dns }: Pick<Place, 'authority' | 'dns'>): Promise<Pebble> {
  const folder = newFolder()
  const { key, cert } = await authority.issue(['localhost', '127.0.0.1'])
  writeFileSync(join(folder, 'key.pem'), key)
  writeFileSync(join(folder, 'cert.pem'), cert)
  const trusted = readFileSync(authority.file)
  // Pebble needs fixed ports; another program may take a free port first.
  for (let tries = 1; ; tries++) {
    const [acme, management] = await freePorts()
    const settings = {
      listenAddress: `127.0.0.1:${acme}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: join(folder, 'cert.pem'),
      privateKey: join(folder, 'key.pem'),
    }
    const config = join(folder, 'pebble.json')
    writeFileSync(config, JSON.stringify({ pebble: settings }))
    const pebble = start('pebble', ['-config', config, '-dnsserver', dns, '-strict'], { env: ENVIRONMENT })
    const root = await rootCertificate(pebble, `https://127.0.0.1:${management}/roots/0`, trusted)
    const stop = async () => {
      pebble.child.kill('SIGKILL')
      await pebble.ended
    }
    if (root !== undefined) {
      writeFileSync(join(folder, 'root.pem'), root)
      return { directory: `https://localhost:${acme}/dir`, root: join(folder, 'root.pem'), output: pebble.output, stop }
    }
    await stop()
    if (tries === 3) throw new Error(`pebble does not start:\n${pebble.output()}`)
  }
}

/** Its root certificate, once it answers; undefined if it exits before. */
async function rootCertificate(pebble: Program, url: string, ca: Buffer): Promise<string | undefined> {
  const until = Date.now() + 60_000
  while (pebble.child.exitCode === null && Date.now() < until) {
    const root = await get(url, ca)
    if (root !== undefined) return root
    await sleep(50)
  }
  return undefined
}

async function get(url: string, ca: Buffer): Promise<string | undefined> {
  try {
    const sent = request(url, { ca, agent: false }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    return await text(answer)
  } catch {
    return undefined
  }
}

async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()]
  const [acme, management] = [await listen(servers[0]!), await listen(servers[1]!)]
  for (const server of servers) await once(server.close(), 'close')
  return [acme, management]
}

/** The names and issuer of an issued certificate, and whether openssl verifies it with the root. */
export async function describe(
  { root }: Pebble,
  chain: string,
): Promise<{ names: string[]; issuer: string; isTrusted: boolean }> {
  const { code } = await run('openssl', ['verify', '-CAfile', root, '-untrusted', chain, chain])
  const { output } = await run('openssl', ['x509', '-in', chain, '-noout', '-issuer', '-ext', 'subjectAltName'])
  const names = [...output.matchAll(/DNS:([^,\s]+)/g)].map(([, name]) => name!)
  return { names: names.sort(), issuer: /^issuer=(.*)$/m.exec(output)?.[1] ?? '', isTrusted: code === 0 }
}
