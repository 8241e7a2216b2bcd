import { query } from '../../src/store/database.ts'
import { createAccount } from '../support/clients/accounts.ts'
import { newDomain } from '../support/clients/api.ts'
import { type Held, hold, plainRequest } from '../support/clients/raw.ts'
import { addToken } from '../support/clients/tokens.ts'
import { eventually } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { fill, isFull } from '../support/state/budgets.ts'

// Contract §1.8: responses that their clients do not take, while others wait for the places.

const service = useService()
const held: Held[] = []

test.afterEach.always('the connections are closed', () => {
  for (const { socket } of held.splice(0)) socket.destroy()
})

/** A new account with a domain whose list and zone file do not fit into the buffers of a connection. */
async function largeDomain() {
  const { system, url } = service()
  const account = await createAccount(system, url)
  const domain = await newDomain(account.api)
  await query(
    system.db,
    `insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
     select domains.id, 'text' || i, 'TXT', 60, array['"' || repeat(repeat('a', 240) || '" "', 15) || '"'], :now, :now
     from domains, generate_series(1, 4000) as i where name = :domain`,
    { domain, now: system.now() },
  )
  return { account, domain, list: `/domains/${domain}/rrsets/?cursor=`, zonefile: `/domains/${domain}/zonefile/` }
}

/** Asks for a response, and takes nothing of it. */
async function ask(path: string, secret: string): Promise<Held> {
  const asked = await hold(service().url, plainRequest(`GET /api/v1${path}`, [`Authorization: Token ${secret}`]))
  asked.socket.pause()
  held.push(asked)
  return asked
}

test('while four accounts take nothing of their exports, others get theirs', async (t) => {
  const domains = await Promise.all(Array.from({ length: 5 }, largeDomain))
  const last = domains.pop()!
  const unread = await Promise.all(domains.map(({ account, zonefile }) => ask(zonefile, account.secret)))
  await eventually(() => isFull(service().system.bounds.exports))
  t.is((await last.account.api.get(last.zonefile)).status, 200)
  for (const { socket } of unread) socket.resume()
  const bodies = await Promise.all(unread.map(async ({ answer }) => (await answer).body))
  t.true(bodies.some((body) => !body.endsWith('\r\n0\r\n\r\n')))
})

test("while an account's API tokens have all their places of lists and exports, its logins have theirs", async (t) => {
  const { account, list, zonefile } = await largeDomain()
  const { id } = account
  const owner = await addToken(service(), id, { mfa: true })
  const { readers, exports } = service().system.bounds
  const releases = [fill(readers, `readers of ${id}`), fill(exports, `exports of ${id}`)]
  t.is((await owner.api.get(list)).status, 200)
  t.is((await owner.api.get(zonefile)).status, 200)
  for (const release of releases) release()
})

test('an export of which its client takes nothing makes room for others of its account', async (t) => {
  const { account, zonefile } = await largeDomain()
  const { answer } = await ask(zonefile, account.secret)
  await eventually(() => isFull(service().system.bounds.exports, `exports of ${account.id}`))
  t.is((await account.api.get(zonefile)).status, 200)
  held[0]!.socket.resume()
  t.false((await answer).body.endsWith('\r\n0\r\n\r\n'))
})
