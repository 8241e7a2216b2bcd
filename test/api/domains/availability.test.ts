import type { Account } from '../../support/clients/accounts.ts'
import { freshName, newDomain, newReservedDomain, type ShownDomain, succeeded } from '../../support/clients/api.ts'
import { freshEmail, PASSWORD } from '../../support/clients/people.ts'
import { useService, withService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService()

const DISALLOWED = JSON.stringify({
  name: ['This domain name conflicts with an existing domain, or is disallowed by policy.'],
})

/** One for each reason; test/service/availability.test.ts has more. */
const NEVER: [name: string, why: string][] = [
  ['a.internal', 'it is below internal'],
  ['co.uk', 'it is a public suffix'],
  ['test', 'it has a single label'],
  ['probe-dns.zoneplane.invalid', 'the service makes and deletes it at PowerDNS'],
  ['autodiscover.co.uk', 'mail clients look it up beside a public suffix'],
]

for (const [name, why] of NEVER) {
  test(`${name} cannot be created: ${why}`, async (t) => {
    const { api } = await service().account()
    const answer = await api.post('/domains/', { name })
    t.deepEqual([answer.status, answer.text], [400, DISALLOWED])
    t.is((await api.get('/domains/')).text, '[]')
  })
}

test('only the operator can create local public suffixes, hosts of the service, and their ancestors', async (t) => {
  const settings = {
    REGISTRATION: 'open',
    LOCAL_PUBLIC_SUFFIXES: 'dyn.suffix.test',
    NAMESERVERS: 'ns1.servers.test, ns2.servers.test',
    PUBLIC_URL: 'https://api.public.test:8443/below',
    UPDATE_HOSTS: 'a.update.test',
    CHECK_IP_HOSTS: 'check.test',
  }
  await withService(settings, async (own) => {
    const { id, api } = await own.account()
    const reserved = [
      ...['dyn.suffix.test', 'suffix.test', 'servers.test', 'ns2.servers.test', 'public.test', 'api.public.test'],
      ...['update.test', 'a.update.test', 'check.test'],
    ]
    for (const name of reserved) {
      const answer = await api.post('/domains/', { name })
      t.deepEqual([answer.status, answer.text], [400, DISALLOWED], name)
      const signUp = await own.anonymous.post('/auth/', { email: freshEmail(), password: PASSWORD, domain: name })
      t.deepEqual([signUp.status, signUp.text], [400, DISALLOWED.replace('name', 'domain')], name)
    }
    for (const name of ['child.dyn.suffix.test', 'other.servers.test', 'xcheck.test']) await newDomain(api, name)
    for (const name of reserved) await newReservedDomain(own, id, name)
    const names = ((await api.get('/domains/')).json as ShownDomain[]).map(({ name }) => name)
    for (const name of reserved) t.true(names.includes(name), name)
  })
})

test('names below a public suffix can be created', async (t) => {
  const { api } = await service().account()
  for (const name of ['project.github.io', 'www.ck', 'a.notinternal']) t.is(await newDomain(api, name), name)
})

/** Whether the account cannot create the name because of a conflict. */
async function isRefused(account: Account, name: string): Promise<boolean> {
  const { status, text } = await account.api.post('/domains/', { name })
  if (status === 201) return false
  if (status === 400 && text === DISALLOWED) return true
  throw new Error(`${status} ${text}`)
}

test('a name below the domain of another account is refused, however deep', async (t) => {
  const [owner, other] = [await service().account(), await service().account()]
  const name = await newDomain(owner.api)
  t.true(await isRefused(other, `a.${name}`))
  t.true(await isRefused(other, `a.b.c.${name}`))
})

test('a name above the domain of another account is refused, however far', async (t) => {
  const [owner, other] = [await service().account(), await service().account()]
  const name = freshName()
  await newDomain(owner.api, `a.b.c.${name}`)
  t.true(await isRefused(other, `b.c.${name}`))
  t.true(await isRefused(other, name))
})

test('a name beside the domain of another account is free', async (t) => {
  const [owner, other] = [await service().account(), await service().account()]
  const name = freshName()
  await newDomain(owner.api, `a.${name}`)
  t.false(await isRefused(other, `b.${name}`))
  t.false(await isRefused(other, `ba.${name}`))
  t.false(await isRefused(other, `x${name}`))
})

test('the search for descendants takes an underscore literally', async (t) => {
  const [owner, other] = [await service().account(), await service().account()]
  const name = freshName()
  await newDomain(owner.api, `x.axb.${name}`)
  t.false(await isRefused(other, `a_b.${name}`))
})

test("the caller's own parent and child domains do not conflict", async (t) => {
  const account = await service().account()
  const name = freshName()
  for (const own of [`b.${name}`, name, `a.b.${name}`, `c.d.e.${name}`]) t.false(await isRefused(account, own))
})

test("another account's ancestor at or above the public suffix does not conflict", async (t) => {
  const [owner, other] = [await service().account(), await service().account()]
  await newDomain(owner.api, 'amazonaws.com')
  t.false(await isRefused(other, 'bucket.s3.amazonaws.com'))
})

test("another account's descendant conflicts, even with a public suffix between", async (t) => {
  const [owner, other] = [await service().account(), await service().account()]
  await newDomain(owner.api, 'project.host.eu.platform.sh')
  t.true(await isRefused(other, 'platform.sh'))
  t.false(await isRefused(owner, 'platform.sh'))
})

test('a name is available again once the conflicting domain is deleted', async (t) => {
  const [owner, other] = [await service().account(), await service().account()]
  const name = await newDomain(owner.api)
  t.true(await isRefused(other, `a.${name}`))
  succeeded(await owner.api.delete(`/domains/${name}/`), 204)
  t.false(await isRefused(other, `a.${name}`))
})
