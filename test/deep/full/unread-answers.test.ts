import test from 'ava'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../../src/store/database.ts'
import { type Account, createAccount } from '../../support/clients/accounts.ts'
import { newDomain } from '../../support/clients/api.ts'
import { hold, plainRequest } from '../../support/clients/raw.ts'
import { type TestProcess, useServers } from '../../support/harness.ts'
import { resident } from '../../support/servers/resident.ts'

// Contract §1.5: answers that clients do not read.

const servers = useServers()
let service: TestProcess

/** RRsets of the largest size. */
const SIZE = 600
const OCTETS = 62_000

test.serial.before('a service with throttling', async () => {
  service = await servers().start({ THROTTLE: 'on', NODE_OPTIONS: '--max-old-space-size=1024' })
})

/** A new account with a domain whose pages have 4 MiB, and whose zone file has 37 MB. */
async function largeDomain(): Promise<{ account: Account; domain: string }> {
  const { system } = servers()
  const account = await createAccount(system, service.url)
  const domain = await newDomain(account.api, `large${account.id.slice(0, 8)}.test`)
  await query(
    system.db,
    `insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
     select domains.id, 'text' || i, 'TXT', 60,
       array(select '"' || repeat(chr(97 + i % 26), 240) || '"' from generate_series(1, ${Math.floor(OCTETS / 244)})), :now, :now
     from domains, generate_series(1, ${SIZE}) as i where name = :domain`,
    { domain, now: system.now() },
  )
  return { account, domain }
}

test.serial('40 unread pages and zone files keep the process below 600 MiB, and end by themselves', async (t) => {
  const large = await Promise.all(Array.from({ length: 4 }, largeDomain))
  const other = await newDomain(service.api)
  const held = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const { account, domain } = large[i % large.length]!
      const path = `GET /api/v1/domains/${domain}/${i % 8 < 4 ? 'rrsets/?cursor=' : 'zonefile/'}`
      const { socket, answer } = await hold(service.url, plainRequest(path, [`Authorization: Token ${account.secret}`]))
      socket.pause()
      return { socket, answer }
    }),
  )
  const start = performance.now()
  const ports = new Set(held.map(({ socket }) => socket.localPort!))
  let i = 0
  do {
    t.is((await service.api.get('/domains/')).status, 200)
    const rrset = { subname: 'www', type: 'A', ttl: 60, records: [`192.0.2.${++i % 256}`] }
    t.is((await service.api.put(`/domains/${other}/rrsets/`, [rrset])).status, 200)
    await sleep(1_000)
  } while (openConnections(service.url).some((port) => ports.has(port)))
  const took = performance.now() - start
  for (const { socket } of held) socket.resume()
  const answers = await Promise.all(held.map(({ answer }) => answer))
  const unread = answers.filter(({ status }) => status === 200)
  t.true(unread.length >= 16)
  const exports = unread.filter(({ headers }) => headers['transfer-encoding'] === 'chunked')
  t.true(exports.length > 0)
  for (const { body } of exports) t.false(body.endsWith('\r\n0\r\n\r\n'))
  for (const { status, headers } of answers)
    t.true(status === 200 || (status === 503 && Number(headers['retry-after']) > 0))
  const { account, domain } = large[0]!
  t.is((await account.api.get(`/domains/${domain}/rrsets/?cursor=`)).status, 200)
  t.true((await account.api.get(`/domains/${domain}/zonefile/`)).text.length > SIZE * OCTETS)
  const peak = resident(service.pid, 'VmHWM') / 1024
  t.log(`${Math.round(peak)} MiB, ${Math.round(took / 1000)} s`, answers.map(({ status }) => status).join())
  t.true(peak < 600, `${peak} MiB`)
})

/** The ports of the clients whose connections the service has not closed: the clients themselves do not read. */
function openConnections(url: string): number[] {
  const port = Number(new URL(url).port)
  const [, ...lines] = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n')
  const portOf = (address: string) => Number.parseInt(address.split(':')[1]!, 16)
  const rows = lines.map((line) => line.trim().split(/\s+/))
  const open = rows.filter(([, local, , state]) => state === '01' && portOf(local!) === port)
  return open.map(([, , remote]) => portOf(remote!))
}
