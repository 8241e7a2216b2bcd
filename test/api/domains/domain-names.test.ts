import type { Account } from '../../support/clients/accounts.ts'
import { freshName, newDomain, newReservedDomain, type ShownDomain, succeeded } from '../../support/clients/api.ts'
import { freshEmail, PASSWORD } from '../../support/clients/people.ts'
import { useService, withService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService()

const SYNTAX =
  'Domain names must be labels separated by dots. Labels may consist of up to 63 letters, digits, hyphens, and ' +
  'underscores. The last label may not contain an underscore.'
const UNDERSCORE = 'Domain names may not begin with an underscore.'
const TOO_LONG = 'Ensure this field has no more than 191 characters.'
const EXISTS = 'domain with this name already exists.'
const BLANK = 'This field may not be blank.'
const NULL = 'This field may not be null.'
const NO_STRING = 'Not a valid string.'
const notLowercase = (name: string) => `Invalid value (not lowercase): ${name}`

/** A name of `length` characters, in labels of 63 at most. */
function nameOf(length: number, letter = 'a'): string {
  return `${letter.repeat(50)}.`.repeat(3) + letter.repeat(length - 153)
}

/** Examples; test/service/availability.test.ts compares many more with a model. */
const WRONG: [name: unknown, texts: string[]][] = [
  ['', [BLANK]],
  [null, [NULL]],
  [true, [NO_STRING]],
  [['a.test'], [NO_STRING]],
  [{ a: 'test' }, [NO_STRING]],
  ['a\0b.test', ['Null characters are not allowed.']],
  ['a\ud800.test', ['Surrogate characters are not allowed: U+D800.']],
  ['COM', [notLowercase('COM')]],
  ['foo.test.', [SYNTAX]],
  ['foo._test', [SYNTAX]],
  ['_foo.test', [UNDERSCORE]],
  [nameOf(192), [TOO_LONG]],
  ['FOO..test', [notLowercase('FOO..test'), SYNTAX]],
  ['_Foo.test.', [notLowercase('_Foo.test.'), SYNTAX, UNDERSCORE]],
  [nameOf(192, 'A'), [notLowercase(nameOf(192, 'A')), TOO_LONG]],
  [`_A${nameOf(190)}.`, [notLowercase(`_A${nameOf(190)}.`), SYNTAX, UNDERSCORE, TOO_LONG]],
]

for (const [name, texts] of WRONG) {
  const json = JSON.stringify(name)
  test(`the name ${json.length < 40 ? json : `${json.slice(0, 40)}… (${json.length})`} is refused: ${texts.join(' ').slice(0, 60)}`, async (t) => {
    const { api } = await service().account()
    const answer = await api.post('/domains/', { name })
    t.deepEqual([answer.status, answer.text], [400, JSON.stringify({ name: texts })])
    t.is((await api.get('/domains/')).text, '[]')
  })
}

test('a name is required', async (t) => {
  const { api } = await service().account()
  const answer = await api.post('/domains/', {})
  t.deepEqual([answer.status, answer.text], [400, '{"name":["This field is required."]}'])
})

const RIGHT = [
  'foo.lan',
  'a.b.c.d.names.test',
  'a_b.names-1.test',
  '-.test',
  '1.2.3.4',
  'xn--bcher-kva.test',
  `${'a'.repeat(63)}.test`,
  nameOf(191),
]

for (const name of RIGHT) {
  test(`${name.length < 40 ? name : `a name of ${name.length} characters`} is accepted`, async (t) => {
    const { api } = await service().account()
    const answer = await api.post('/domains/', { name })
    t.is(answer.status, 201, answer.text)
    t.is((answer.json as { name: string }).name, name)
    t.is((await api.get(`/domains/${name}/`)).text, answer.text)
  })
}

test('a number is read as its digits', async (t) => {
  const { api } = await service().account()
  const answer = await api.post('/domains/', { name: 12.5 })
  t.deepEqual([answer.status, (answer.json as { name: string }).name], [201, '12.5'])
})

test('a domain that exists is reported as existing, whoever has it, not as conflicting', async (t) => {
  const [owner, other] = [await service().account(), await service().account()]
  const name = await newDomain(owner.api)
  for (const { api } of [owner, other]) {
    const answer = await api.post('/domains/', { name })
    t.deepEqual([answer.status, answer.text], [400, JSON.stringify({ name: [EXISTS] })])
  }
})

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

/** A domain, and others that are refused, or free, for other accounts. NAME is another one in each row. */
const CONFLICTS: [what: string, name: string, refused: string[], free: string[]][] = [
  ['names below it, however deep', 'NAME', ['a.NAME', 'a.b.c.NAME'], []],
  ['names above it, however far', 'a.b.c.NAME', ['b.c.NAME', 'NAME'], []],
  ['not names beside it', 'a.NAME', [], ['b.NAME', 'ba.NAME', 'xNAME']],
  ['no name whose underscore would be a pattern', 'x.axb.NAME', [], ['a_b.NAME']],
  ['not names whose public suffix is at or below it', 'amazonaws.com', [], ['bucket.s3.amazonaws.com']],
  ['its ancestors, even with a public suffix between', 'project.host.eu.platform.sh', ['platform.sh'], []],
]

for (const [what, name, refused, free] of CONFLICTS) {
  test(`a domain of another account keeps from others: ${what}`, async (t) => {
    const [owner, other] = [await service().account(), await service().account()]
    const base = freshName()
    await newDomain(owner.api, name.replace('NAME', base))
    for (const each of refused) t.true(await isRefused(other, each.replace('NAME', base)), each)
    for (const each of free) t.false(await isRefused(other, each.replace('NAME', base)), each)
  })
}

test("the caller's own parent and child domains do not conflict", async (t) => {
  const account = await service().account()
  const name = freshName()
  for (const own of [`b.${name}`, name, `a.b.${name}`, `c.d.e.${name}`]) t.false(await isRefused(account, own))
})

test('a name is available again once the conflicting domain is deleted', async (t) => {
  const [owner, other] = [await service().account(), await service().account()]
  const name = await newDomain(owner.api)
  t.true(await isRefused(other, `a.${name}`))
  succeeded(await owner.api.delete(`/domains/${name}/`), 204)
  t.false(await isRefused(other, `a.${name}`))
})

/** A name of `length` characters that ends in `own.test`. */
function longName(length: number): string {
  const labels = `${'a'.repeat(60)}.`.repeat(5).slice(0, length - '.own.test'.length)
  return `${labels.replace(/\.$/, 'a')}.own.test`
}

/** A name, and which of the account's domains own.test, sub.own.test and a_b.own.test contains it. */
const ROWS: [qname: string, domain: string | undefined][] = [
  ['own.test', 'own.test'],
  ['OWN.Test', 'own.test'],
  ['www.own.test', 'own.test'],
  ['a.b.c.own.test', 'own.test'],
  ['*.own.test', 'own.test'],
  ['*.www.own.test', 'own.test'],
  ['_acme-challenge.own.test', 'own.test'],
  ['_acme-challenge.www.own.test', 'own.test'],
  ['_443._tcp.own.test', 'own.test'],
  ['sub.own.test', 'sub.own.test'],
  ['*.sub.own.test', 'sub.own.test'],
  ['a.sub.own.test', 'sub.own.test'],
  ['a_b.own.test', 'a_b.own.test'],
  ['asub.own.test', 'own.test'],
  ['axb.own.test', 'own.test'],
  [longName(191), 'own.test'],
  [longName(192), 'own.test'],
  [longName(253), 'own.test'],
  [longName(254), undefined],
  [`*.${longName(253)}`, 'own.test'],
  ['own.test.', undefined],
  ['@', undefined],
  ['@.own.test', undefined],
  ['*', undefined],
  ['*.', undefined],
  ['*.*.own.test', undefined],
  ['a.*.own.test', undefined],
  ['a*.own.test', undefined],
  ['', undefined],
  ['.own.test', undefined],
  ['a..own.test', undefined],
  [' own.test', undefined],
  ['own.test\0', undefined],
  ['\u00fc.own.test', undefined],
  [`${'a'.repeat(64)}.own.test`, undefined],
  ['own.te_st', undefined],
  ['test', undefined],
  ['xown.test', undefined],
  ['other.test', undefined],
  ['foreign.test', undefined],
  ['www.foreign.test', undefined],
]

test('owns_qname returns the longest own domain that contains the name, without keys, or none', async (t) => {
  const { api } = await service().account()
  const other = await service().account()
  await newDomain(other.api, 'foreign.test')
  for (const name of ['sub.own.test', 'own.test', 'a_b.own.test']) await newDomain(api, name)
  const listed = (await api.get('/domains/')).json as ShownDomain[]
  for (const [qname, name] of ROWS) {
    const answer = await api.get(`/domains/?owns_qname=${encodeURIComponent(qname)}`)
    t.is(answer.status, 200, qname)
    t.is(answer.text, JSON.stringify(listed.filter((domain) => domain.name === name)), qname)
  }
})
