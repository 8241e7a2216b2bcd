import test from 'ava'
import { query } from '../../../src/store/database.ts'
import type { Account } from '../../support/accounts.ts'
import { newDomain } from '../../support/api.ts'
import { useService } from '../../support/harness.ts'
import { addPolicies, addToken, type PolicyRow, type Token } from '../../support/tokens.ts'

// Contract §§3.2 and 3.3, on domains and RRsets.

const service = useService()

const PERMISSION = { detail: 'You do not have permission to perform this action.' }
const POLICY = { detail: 'Insufficient token permissions.' }
const NOT_FOUND = { detail: 'Not found.' }

let account: Account
let other: Account

test.before('two accounts', async () => {
  account = await service().account()
  other = await service().account()
})

const rrset = (subname: string, type = 'A') => ({
  ...{ subname, type, ttl: 60 },
  records: [type === 'A' ? '192.0.2.1' : '"x"'],
})

test.serial(
  'a token without flags can read and write everything in the account, but not create or delete domains',
  async (t) => {
    const domain = await newDomain(account.api)
    const { api } = await addToken(service(), account.id)
    t.is((await api.get('/')).status, 200)
    t.is((await api.get('/domains/')).status, 200)
    t.is((await api.get(`/domains/${domain}/`)).status, 200)
    t.is((await api.get(`/domains/${domain}/rrsets/`)).status, 200)
    t.is((await api.post(`/domains/${domain}/rrsets/`, rrset('www'))).status, 201)
    t.is((await api.patch(`/domains/${domain}/rrsets/www/A/`, { ttl: 61 })).status, 200)
    t.is((await api.put(`/domains/${domain}/rrsets/www/A/`, rrset('www'))).status, 200)
    t.is((await api.delete(`/domains/${domain}/rrsets/www/A/`)).status, 204)
    const creation = await api.post('/domains/', { name: `new.${domain}` })
    t.deepEqual([creation.status, creation.json], [403, PERMISSION])
    const deletion = await api.delete(`/domains/${domain}/`)
    t.deepEqual([deletion.status, deletion.json], [403, PERMISSION])
    t.is((await api.get(`/domains/${domain}/`)).status, 200)
  },
)

for (const [flag, creation, deletion] of [
  ['permCreateDomain', 201, 403],
  ['permDeleteDomain', 403, 204],
  ['permManageTokens', 403, 403],
] as const) {
  test.serial(`the flag ${flag} allows what its name says and nothing else`, async (t) => {
    const domain = await newDomain(account.api)
    const { api } = await addToken(service(), account.id, { [flag]: true })
    t.is((await api.post('/domains/', { name: `new.${domain}` })).status, creation)
    t.is((await api.delete(`/domains/${domain}/`)).status, deletion)
  })
}

for (const [what, name] of [
  ['an absent', async () => 'absent.test'],
  ['a foreign', () => newDomain(other.api)],
  ['a malformed', async () => '_'],
] as const) {
  test.serial(`deleting ${what} domain requires the flag, and does nothing`, async (t) => {
    const path = `/domains/${await name()}/`
    const without = await addToken(service(), account.id)
    const refused = await without.api.delete(path)
    t.deepEqual([refused.status, refused.json], [403, PERMISSION])
    const { status, text } = await account.api.delete(path)
    t.deepEqual([status, text], [204, ''])
    if (what === 'a foreign') t.is((await other.api.get(path)).status, 200)
  })
}

test.serial('a foreign domain behaves like an absent one', async (t) => {
  const domain = await newDomain(other.api)
  await other.api.post(`/domains/${domain}/rrsets/`, rrset('www'))
  for (const [method, path] of [
    ['GET', ''],
    ['GET', 'rrsets/'],
    ['POST', 'rrsets/'],
    ['GET', 'rrsets/www/A/'],
    ['PUT', 'rrsets/www/A/'],
    ['PATCH', 'rrsets/www/A/'],
    ['DELETE', 'rrsets/www/A/'],
    ['DELETE', 'rrsets/@/NS/'],
  ] as const) {
    const { status, json } = await account.api.send(method, `/domains/${domain}/${path}`, rrset('www'))
    t.deepEqual([status, json], [404, NOT_FOUND], `${method} ${path}`)
  }
  t.deepEqual((await account.api.get(`/domains/?owns_qname=${domain}`)).json, [])
  t.false((await account.api.get('/domains/')).text.includes(domain))
  t.is((await other.api.get(`/domains/${domain}/rrsets/www/A/`)).status, 200)
})

test.serial('a restricted token can read everything, and write what its policies allow', async (t) => {
  const [allowed, denied] = [await newDomain(account.api), await newDomain(account.api)]
  await account.api.post(`/domains/${denied}/rrsets/`, rrset('www'))
  const { id, api } = await addToken(service(), account.id)
  await addPolicies(service(), id, { write: false }, { domain: allowed, write: true })
  for (const path of ['/', '/domains/', `/domains/${denied}/`, `/domains/${denied}/rrsets/www/A/`]) {
    t.is((await api.get(path)).status, 200, path)
  }
  t.is((await api.post(`/domains/${allowed}/rrsets/`, rrset('www'))).status, 201)
  for (const [method, path, body] of [
    ['POST', 'rrsets/', rrset('new')],
    ['PUT', 'rrsets/www/A/', rrset('www')],
    ['PATCH', 'rrsets/www/A/', {}],
    ['DELETE', 'rrsets/www/A/', undefined],
  ] as const) {
    const { status, json } = await api.send(method, `/domains/${denied}/${path}`, body)
    t.deepEqual([status, json], [403, POLICY], method)
  }
  t.is((await api.delete(`/domains/${denied}/rrsets/absent/A/`)).status, 204)
})

/** The policies of a token, and whether they permit writing `www TXT`. */
const precedence: [string, Omit<PolicyRow, 'domain'>[], boolean][] = [
  ['the default alone', [{ write: true }], true],
  ['type over default', [{ write: false }, { type: 'TXT', write: true }], true],
  ['subname over type', [{ write: false }, { type: 'TXT', write: false }, { subname: 'www', write: true }], true],
  [
    'subname and type over subname',
    [{ write: true }, { subname: 'www', write: true }, { subname: 'www', type: 'TXT', write: false }],
    false,
  ],
  ['a policy for another type does not match', [{ write: false }, { type: 'A', write: true }], false],
  ['a policy for another subname does not match', [{ write: false }, { subname: '', write: true }], false],
  ['a wildcard is literal', [{ write: false }, { subname: '*', write: true }], false],
]

for (const [what, policies, allowed] of precedence) {
  test.serial(`the most specific policy decides: ${what}`, async (t) => {
    const domain = await newDomain(account.api)
    const { id, api } = await addToken(service(), account.id)
    await addPolicies(service(), id, ...policies)
    t.is((await api.post(`/domains/${domain}/rrsets/`, rrset('www', 'TXT'))).status, allowed ? 201 : 403)
  })
}

test.serial('deleting a domain requires permission to write all of it', async (t) => {
  const domain = await newDomain(account.api)
  await account.api.post(`/domains/${domain}/rrsets/`, rrset('www'))
  const token = async (...policies: PolicyRow[]) => {
    const { id, api } = await addToken(service(), account.id, { permDeleteDomain: true })
    await addPolicies(service(), id, ...policies)
    return api
  }
  for (const policies of [
    [{ write: false }],
    [{ write: true }, { domain, subname: 'nothing', write: false }],
    [{ write: true }, { subname: 'www', write: false }],
    [{ write: true }, { type: 'NS', write: false }],
  ]) {
    const { status, json } = await (await token(...policies)).delete(`/domains/${domain}/`)
    t.deepEqual([status, json], [403, PERMISSION], JSON.stringify(policies))
  }
  const allowed = await token({ write: false }, { domain, write: true })
  t.is((await allowed.delete(`/domains/${domain}/`)).status, 204)
  t.is((await account.api.get(`/domains/${domain}/`)).status, 404)
})

/** A token of another account, bound to `account`. */
async function boundToken(options = {}): Promise<Token> {
  const { id } = await service().account()
  return addToken(service(), id, { userOverrideId: account.id, ...options })
}

test.serial('an override token acts as the bound account, not as its owner', async (t) => {
  const owner = await service().account()
  const [bound, owned] = [await newDomain(account.api), await newDomain(owner.api)]
  const { api } = await addToken(service(), owner.id, { userOverrideId: account.id })
  t.is((await api.get(`/domains/${bound}/`)).status, 200)
  t.is((await api.get(`/domains/${owned}/`)).status, 404)
  t.deepEqual((await api.get('/domains/')).json, (await account.api.get('/domains/')).json)
  t.is((await api.post(`/domains/${bound}/rrsets/`, rrset('www'))).status, 201)
  t.is((await account.api.get(`/domains/${bound}/rrsets/www/A/`)).status, 200)
})

test.serial('a domain that an override token creates belongs to the bound account', async (t) => {
  const { api } = await boundToken({ permCreateDomain: true })
  const domain = await newDomain(api)
  t.is((await account.api.get(`/domains/${domain}/`)).status, 200)
})

test.serial('an override token counts for the quota of the bound account', async (t) => {
  const full = await service().account({ limitDomains: 0 })
  const roomy = await addToken(service(), account.id, { userOverrideId: full.id, permCreateDomain: true })
  t.is((await roomy.api.post('/domains/', { name: 'quota-1.test' })).status, 403)
  const back = await addToken(service(), full.id, { userOverrideId: account.id, permCreateDomain: true })
  await newDomain(back.api)
  t.pass()
})

test.serial('an override token without flags can neither create nor delete domains', async (t) => {
  const domain = await newDomain(account.api)
  const { api } = await boundToken()
  t.is((await api.post('/domains/', { name: `new.${domain}` })).status, 403)
  t.is((await api.delete(`/domains/${domain}/`)).status, 403)
})

test.serial(
  'an override token with policies sees only the domains that they name, whether or not they may be written',
  async (t) => {
    const [written, read, hidden] = [
      await newDomain(account.api),
      await newDomain(account.api),
      await newDomain(account.api),
    ]
    const { id, api } = await boundToken({ permDeleteDomain: true })
    await addPolicies(
      service(),
      id,
      { write: true },
      { domain: written, write: true },
      { domain: read, subname: 'x', type: 'A', write: false },
    )
    const listed = (await api.get('/domains/')).json as { name: string }[]
    t.deepEqual(
      listed.map(({ name }) => name),
      [read, written],
    )
    for (const [domain, status] of [
      [written, 200],
      [read, 200],
      [hidden, 404],
    ] as const) {
      t.is((await api.get(`/domains/${domain}/`)).status, status)
      t.is((await api.get(`/domains/${domain}/rrsets/`)).status, status)
      t.is((await api.get(`/domains/${domain}/rrsets/@/NS/`)).status, status)
      t.is(((await api.get(`/domains/?owns_qname=www.${domain}`)).json as unknown[]).length, status === 200 ? 1 : 0)
    }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const path = method === 'POST' ? 'rrsets/' : 'rrsets/@/NS/'
      t.is((await api.send(method, `/domains/${hidden}/${path}`, rrset('www'))).status, 404, method)
    }
    t.is((await api.delete(`/domains/${hidden}/`)).status, 204)
    t.is((await account.api.get(`/domains/${hidden}/`)).status, 200)
  },
)

test.serial('an override token whose policies name no domain sees none', async (t) => {
  const domain = await newDomain(account.api)
  const { id, api } = await boundToken()
  await addPolicies(service(), id, { write: true })
  t.deepEqual((await api.get('/domains/')).json, [])
  t.is((await api.get(`/domains/${domain}/`)).status, 404)
})

test.serial('owns_qname finds only domains that the override token sees', async (t) => {
  const parent = await newDomain(account.api)
  const child = `child.${parent}`
  await account.api.post('/domains/', { name: child })
  const { id, api } = await boundToken()
  const owning = async () => ((await api.get(`/domains/?owns_qname=www.${child}`)).json as { name: string }[])[0]?.name
  t.is(await owning(), child)
  await addPolicies(service(), id, { write: false }, { domain: parent, write: true })
  t.is(await owning(), parent)
})

test.serial('deleting the owner or the bound account invalidates an override token', async (t) => {
  for (const which of ['owner_id', 'user_override_id']) {
    const [owner, bound] = [await service().account(), await service().account()]
    const { id, api } = await addToken(service(), owner.id, { userOverrideId: bound.id })
    t.is((await api.get('/domains/')).status, 200)
    const sql = `delete from accounts where id = (select ${which} from tokens where id = :id)`
    await query(service().system.db, sql, { id })
    const { status, json } = await api.get('/domains/')
    t.deepEqual([status, json], [401, { detail: 'Invalid token.' }])
  }
})
