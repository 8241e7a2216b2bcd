import { query } from '../../src/store/database.ts'
import { newDomain, newRRset, rrset, sendHeld, shared, succeeded } from '../support/clients/api.ts'
import {
  type Entry, type Key, keyFor, messageOf, rcodeOf, sendByTcp, sendTo, signedWith,
} from '../support/clients/dns-update.ts' // prettier-ignore
import { basic, update as updateAddress } from '../support/clients/dyndns.ts'
import { addPolicies, addToken, type Token } from '../support/clients/tokens.ts'
import { lookUp } from '../support/dns/dns.ts'
import { eventually } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'

// Contract §21.2 and §21.4: updates, and what others do at the same time.

const service = useService({ DNS_UPDATE_PORT: '0', THROTTLE: 'off' })
const account = shared(() => service().account({ limitDomains: null }))

const A = (name: string, last: number, ttl = 3_600): Entry => ({
  name,
  type: 1,
  ttl,
  data: Buffer.from([192, 0, 2, last]),
})

async function newSite() {
  const { api, id } = await account()
  const manager = await addToken(service(), id, { permManageTokens: true })
  const zone = await newDomain(api)
  await newRRset(api, zone)
  const token = await addToken(service(), id)
  return { api, manager: manager.api, zone, token, key: await keyFor(manager.api, token.id) }
}

type Site = Awaited<ReturnType<typeof newSite>>

let id = 0

function updateOf({ zone, key }: { zone: string; key: Key }, updates: Entry[]): Buffer {
  const message = messageOf({ id: ++id, question: { name: zone, type: 6 }, sections: [[], updates, []] })
  return signedWith(key, message).message
}

async function send(...args: Parameters<typeof updateOf>): Promise<string> {
  return rcodeOf(await sendTo(service().updatePort!, updateOf(...args), 20_000))
}

async function recordsOf({ api, zone }: Site, subname: string): Promise<string[]> {
  const answer = await api.get(`/domains/${zone}/rrsets/${subname}/A/`)
  return answer.status === 404 ? [] : (answer.json as { records: string[] }).records
}

test('of updates, requests and dynDNS at the same time, none is lost', async (t) => {
  const site = await newSite()
  const { api, zone, token } = site
  const added = Array.from({ length: 12 }, (_, i) => 10 + i)
  const results = await Promise.all([
    ...added.map((last) => send(site, [A(`both.${zone}`, last)])),
    ...added.map(async (last) => {
      const body = [rrset({ subname: `http-${last}`, records: [`192.0.2.${last}`] })]
      return (await api.put(`/domains/${zone}/rrsets/`, body)).status
    }),
    ...added.map(async () => {
      const { status } = await updateAddress(
        service().anonymous,
        { myip: '192.0.2.77' },
        basic(`dyn.${zone}`, token.secret),
      )
      return status
    }),
  ])
  t.deepEqual(new Set(results), new Set(['NOERROR', 200]))
  const expected = added.map((last) => `192.0.2.${last}`)
  t.deepEqual((await recordsOf(site, 'both')).toSorted(), expected.toSorted())
  t.deepEqual((await lookUp(service().powerDns, `both.${zone}`, 'A')).toSorted(), expected.toSorted())
  for (const last of added) t.deepEqual(await recordsOf(site, `http-${last}`), [`192.0.2.${last}`])
  t.deepEqual(await recordsOf(site, 'dyn'), ['192.0.2.77'])
})

/** Ways to end a right while an update waits for the write before it. */
const WAYS: Record<string, (site: Site) => Promise<unknown>> = {
  'its key is deleted': async ({ manager, token }) => succeeded(await manager.delete(`${pathOf(token)}tsig/`), 204),
  'it gets another key': ({ manager, token }) => keyFor(manager, token.id),
  'the token is deleted': async ({ manager, token }) => succeeded(await manager.delete(pathOf(token)), 204),
  'its networks change': async ({ manager, token }) =>
    succeeded(await manager.patch(pathOf(token), { allowed_subnets: ['192.0.2.0/24'] }), 200),
  'it gets a policy': ({ token }) => addPolicies(service(), token.id, { write: false }),
}

function pathOf({ id }: Token): string {
  return `/auth/tokens/${id}/`
}

for (const [what, withdraw] of Object.entries(WAYS))
  test(`${what} while an update waits: REFUSED, and nothing is written`, async (t) => {
    const site = await newSite()
    const { api, zone } = site
    const { answering, release } = await sendHeld(service(), 'PATCH', () =>
      api.patch(`/domains/${zone}/rrsets/www/A/`, { ttl: 7_200 }),
    )
    const waiting = send(site, [A(`late.${zone}`, 1)])
    await eventually(async () => isUsed(site.token))
    await withdraw(site)
    release('pass')
    t.is((await answering).status, 200)
    t.is(await waiting, 'REFUSED')
    t.deepEqual(await recordsOf(site, 'late'), [])
  })

/** Whether the update has been authenticated. */
async function isUsed({ id }: Token): Promise<boolean> {
  const [row] = await query<{ at: string | null }>(service().system.db, 'select last_used as at from tokens where id = :id', { id }) // prettier-ignore
  return row!.at !== null
}

test('the deletion of a key waits for the update that has begun', async (t) => {
  const site = await newSite()
  const { manager, zone, token } = site
  const { answering, release } = await sendHeld(service(), 'PATCH', () => send(site, [A(`begun.${zone}`, 1)]))
  let isDeleted = false
  const deleting = manager.delete(`${pathOf(token)}tsig/`).finally(() => (isDeleted = true))
  await new Promise((resolve) => setTimeout(resolve, 300))
  t.false(isDeleted)
  release('pass')
  t.is(await answering, 'NOERROR')
  t.is((await deleting).status, 204)
  t.deepEqual(await recordsOf(site, 'begun'), ['192.0.2.1'])
  t.is(await send(site, [A(`begun.${zone}`, 2)]), 'NOTAUTH')
})

test('beyond what an account may have in work, updates are REFUSED', async (t) => {
  const site = await newSite()
  const { zone } = site
  const { answering, release } = await sendHeld(service(), 'PATCH', () => send(site, [A(`first.${zone}`, 1)]))
  const others = Array.from({ length: 40 }, (_, i) => send(site, [A(`other-${i}.${zone}`, 1)]))
  const refused = await Promise.race([...others])
  t.is(refused, 'REFUSED')
  release('pass')
  t.is(await answering, 'NOERROR')
  const results = await Promise.all(others)
  t.is(results.filter((rcode) => rcode === 'NOERROR').length, 31)
  for (const [i, rcode] of results.entries())
    t.is((await recordsOf(site, `other-${i}`)).length, rcode === 'NOERROR' ? 1 : 0)
})

test('while PowerDNS is away, an update is SERVFAIL, and nothing is changed', async (t) => {
  const site = await newSite()
  const { zone } = site
  const { answering, release } = await sendHeld(service(), 'PATCH', async () =>
    sendByTcp(service().updatePort!, { messages: [updateOf(site, [A(`away.${zone}`, 1)])] }),
  )
  release('cut')
  t.deepEqual((await answering).map(rcodeOf), ['SERVFAIL'])
  t.deepEqual(await recordsOf(site, 'away'), [])
})
