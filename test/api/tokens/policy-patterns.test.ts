import { freshName, newDomain, newRRset, rrset, succeeded } from '../../support/clients/api.ts'
import { Client } from '../../support/clients/client.ts'
import { update } from '../../support/clients/dyndns.ts'
import { amend, amendment, ZONES } from '../../support/clients/powerdns.ts'
import { addPolicies, addToken, type PolicyRow, type Token } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { entriesOf, undo } from '../../support/state/history.ts'

// Contract §§6.1 to 6.5: policies with patterns. Which pattern decides is tested in test/service/policies.test.ts, and what
// a pattern is in test/dns/subname-patterns.test.ts.

const service = useService()

const INSUFFICIENT = '{"detail":"Insufficient token permissions."}'

const ANY = { domain: null, subname: null, type: null }

interface ShownPolicy {
  id: string
  subname: string | null
  subname_pattern: string | null
}

/** A token that may write nothing, of a new account with a domain, and the path of its policies. */
async function setup(...rows: PolicyRow[]) {
  const account = await service().account()
  const token = await addToken(service(), account.id)
  const domain = await newDomain(account.api)
  await addPolicies(service(), token.id, { write: false }, ...rows)
  const path = `/auth/tokens/${token.id}/policies/rrsets/`
  return { account, token, domain, api: account.api, path, rrsets: `/domains/${domain}/rrsets/` }
}

async function add(api: Client, path: string, policy: object): Promise<ShownPolicy> {
  return succeeded(await api.post(path, policy), 201).json as ShownPolicy
}

test('a policy has a pattern in place of a subname', async (t) => {
  const { api, path } = await setup()
  const { id, ...made } = await add(api, path, { domain: null, subname_pattern: ' *.dyn ', type: 'A' })
  t.deepEqual(made, { domain: null, subname: null, subname_pattern: '*.dyn', type: 'A', perm_write: false } as object)
  t.deepEqual((await api.get(`${path}${id}/`)).json, { id, ...made })
  t.deepEqual(await add(api, path, { ...ANY, subname_pattern: '*.dyn', perm_write: true }), {
    ...{ ...made, type: null, perm_write: true },
    id: ((await api.get(path)).json as ShownPolicy[])[2]!.id,
  } as ShownPolicy)
})

test('a subname takes the place of a pattern, and a pattern that of a subname; null takes away only what it names', async (t) => {
  const { api, path } = await setup()
  const { id } = await add(api, path, { ...ANY, subname: '*.dyn', type: 'A', perm_write: true })
  const put = { domain: null, type: 'A' }
  for (const [method, change, subname, pattern] of [
    ['PATCH', { subname_pattern: '*.dyn' }, null, '*.dyn'],
    ['PATCH', { subname: null }, null, '*.dyn'],
    ['PATCH', { perm_write: true }, null, '*.dyn'],
    // From a client that knows no patterns.
    ['PUT', { ...put, subname: null }, null, '*.dyn'],
    ['PUT', { ...put, subname_pattern: '**' }, null, '**'],
    ['PATCH', { subname: 'www' }, 'www', null],
    ['PATCH', { subname_pattern: null }, 'www', null],
    ['PUT', { ...put, subname: 'a', subname_pattern: null }, 'a', null],
    ['PUT', { ...put, subname: null, subname_pattern: '*' }, null, '*'],
    ['PUT', { ...put, subname: '*' }, '*', null],
    ['PATCH', { subname: null, subname_pattern: '**.b' }, null, '**.b'],
    ['PATCH', { subname_pattern: null }, null, null],
    ['PUT', { ...put, subname: '' }, '', null],
    ['PUT', { ...put, subname: null }, null, null],
  ] as const) {
    const { json } = succeeded(await api.send(method, `${path}${id}/`, change), 200)
    const shown = { id, ...put, subname, subname_pattern: pattern, perm_write: true }
    t.deepEqual(json, shown, `${method} ${JSON.stringify(change)}`)
  }
})

test('without a pattern, POST and PUT require a subname', async (t) => {
  const { api, path } = await setup()
  const { id } = await add(api, path, { ...ANY, subname_pattern: '*' })
  for (const [method, target] of [
    ['POST', path],
    ['PUT', `${path}${id}/`],
  ] as const) {
    for (const pattern of [{}, { subname_pattern: null }]) {
      const { status, json } = await api.send(method, target, { domain: null, type: null, ...pattern })
      t.deepEqual([status, json], [400, { subname: ['This field is required.'] }])
    }
  }
})

test('the same pattern again is a conflict; a subname of the same text is none', async (t) => {
  const { api, path, domain } = await setup()
  const policy = { ...ANY, subname_pattern: '*.dyn', type: 'A' }
  await add(api, path, policy)
  await add(api, path, { ...policy, domain })
  const { id } = await add(api, path, { ...ANY, subname: '*.dyn', type: 'A' })
  t.is((await api.post(path, { ...policy, perm_write: true })).status, 409)
  t.is((await api.patch(`${path}${id}/`, { subname_pattern: '*.dyn' })).status, 409)
})

test('a pattern cannot be the first policy, nor make the default one specific', async (t) => {
  const { api, account } = await setup()
  const { id } = await addToken(service(), account.id)
  const path = `/auth/tokens/${id}/policies/rrsets/`
  t.is((await api.post(path, { ...ANY, subname_pattern: '**' })).status, 400)
  const { id: fallback } = await add(api, path, ANY)
  t.is((await api.patch(`${path}${fallback}/`, { subname_pattern: '**' })).status, 400)
  const { id: other } = await add(api, path, { ...ANY, subname_pattern: '**' })
  t.is((await api.patch(`${path}${other}/`, { subname_pattern: null })).status, 400)
})

test('patterns of a token have 20 shapes at most, and any number of names', async (t) => {
  const { api, path } = await setup()
  const shapes = Array.from({ length: 20 }, (_, i) => `${'a.'.repeat(i)}**`)
  const made = []
  for (const subname_pattern of shapes) made.push(await add(api, path, { ...ANY, subname_pattern }))
  const text = '{"detail":"Limit exceeded: a token can have at most 20 shapes of patterns."}'
  const more = { ...ANY, subname_pattern: '*' }
  const refused = await api.post(path, more)
  t.deepEqual([refused.status, refused.text], [403, text])
  await add(api, path, { ...ANY, subname_pattern: 'b.**' })
  const { id } = await add(api, path, { ...ANY, subname: 'b' })
  for (const method of ['PATCH', 'PUT']) {
    const changed = await api.send(method, `${path}${id}/`, { domain: null, type: null, subname_pattern: '*' })
    t.deepEqual([changed.status, changed.text], [403, text])
  }
  // In place of the only one of its shape.
  succeeded(await api.patch(`${path}${made[2]!.id}/`, { subname_pattern: '*' }), 200)
  succeeded(await api.delete(`${path}${made[3]!.id}/`), 204)
  await add(api, path, { ...ANY, subname_pattern: '*.*' })
})

test('a token for certificates of a whole domain writes them, at any depth, and nothing else', async (t) => {
  const { account, token, domain, rrsets } = await setup()
  const other = await newDomain(account.api)
  await addPolicies(
    service(),
    token.id,
    { domain, subname: '_acme-challenge', type: 'TXT', write: true },
    { domain, pattern: '_acme-challenge.**', type: 'TXT', write: true },
  )
  const txt = (subname: string) => rrset({ subname, type: 'TXT', records: ['"x"'] })
  const good = ['_acme-challenge', '_acme-challenge.a', '_acme-challenge.a.b.c']
  for (const subname of good) succeeded(await token.api.post(rrsets, txt(subname)), 201)
  succeeded(await token.api.patch(rrsets, good.map(txt)), 200)
  for (const subname of ['', 'a', 'a._acme-challenge', '*', '*.a', '_acme-challengea']) {
    t.is((await token.api.post(rrsets, txt(subname))).text, INSUFFICIENT, subname)
    t.is((await token.api.patch(rrsets, [...good, subname].map(txt))).text, INSUFFICIENT, subname)
  }
  t.is((await token.api.post(rrsets, rrset({ subname: '_acme-challenge.b' }))).text, INSUFFICIENT)
  t.is((await token.api.post(`/domains/${other}/rrsets/`, txt('_acme-challenge.a'))).text, INSUFFICIENT)
})

/** The ways to write an address at a name of a domain. */
const DOORS: [title: string, write: (token: Token, domain: string, subname: string) => Promise<{ status: number }>][] =
  [
    ['a POST', (token, domain, subname) => token.api.post(`/domains/${domain}/rrsets/`, rrset({ subname }))],
    [
      'a bulk PATCH of several names',
      (token, domain, subname) =>
        token.api.patch(
          `/domains/${domain}/rrsets/`,
          [...new Set(['b.a.dyn', subname])].map((each) => rrset({ subname: each })),
        ),
    ],
    ['a bulk PUT', (token, domain, subname) => token.api.put(`/domains/${domain}/rrsets/`, [rrset({ subname })])],
    [
      'a zone file',
      async (token, domain, subname) => {
        const zone = succeeded(await token.api.get(`/domains/${domain}/zonefile/`), 200).text
        return token.api.send('PUT', `/domains/${domain}/zonefile/`, undefined, {
          headers: { 'content-type': 'text/dns' },
          body: `${zone}\n${subname}.${domain}. 3600 IN A 192.0.2.1\n`,
        })
      },
    ],
    [
      'dynDNS',
      (token, domain, subname) =>
        update(token.api, { hostname: `${subname}.${domain}`, myip: '192.0.2.1', myipv6: 'preserve' }),
    ],
    [
      'PowerDNS’ API',
      (token, domain, subname) => {
        const door = new Client(service().url, token.secret, 'powerdns')
        return amend(door, `${ZONES}/${domain}.`, amendment(domain, { name: `${subname}.${domain}.` }))
      },
    ],
  ]

for (const [title, write] of DOORS) {
  test(`patterns hold for ${title}, in a token that may write some names, and in one that may write all but some`, async (t) => {
    const some = await setup({ pattern: '**.dyn', type: 'A', write: true }, { pattern: '*.dyn', write: false })
    const { domain, token } = await setup({ pattern: '*.c', write: false }, { subname: 'c', type: 'A', write: false })
    await addPolicies(
      service(),
      token.id,
      { domain, write: true },
      { domain, pattern: '**.dyn', write: false },
      { domain, subname: 'b.a.dyn', write: true },
      { domain, subname: 'd', write: false },
    )
    for (const [user, refused, permitted] of [
      [some, ['a.dyn', 'dyn'], ['b.a.dyn']],
      // The policy of the domain outweighs those without one.
      [{ domain, token }, ['a.dyn', 'a.b.c.dyn', 'd'], ['a.c', 'c', 'dyn', 'b.a.dyn']],
    ] as const) {
      for (const subname of refused) t.is((await write(user.token, user.domain, subname)).status, 403, subname)
      for (const subname of permitted) t.true((await write(user.token, user.domain, subname)).status < 300, subname)
    }
  })
}

test('what a token must not write it can neither change nor delete nor undo', async (t) => {
  const { api, token, domain, rrsets } = await setup()
  await addPolicies(service(), token.id, { domain, write: true }, { domain, pattern: '*.x', write: false })
  await addPolicies(service(), token.id, { domain, subname: 'x', write: false })
  for (const subname of ['a.x', 'x', 'y']) {
    const path = `${rrsets}${subname}/A/`
    succeeded(await api.post(rrsets, rrset({ subname })), 201)
    const [entry] = await entriesOf(api, domain)
    const { status } = await undo(token.api, domain, entry!)
    t.is(status, subname === 'y' ? 200 : 403)
    if (subname === 'y') succeeded(await api.post(rrsets, rrset({ subname })), 201)
    const allowed = subname === 'y'
    t.is((await token.api.patch(path, { ttl: 7200 })).status, allowed ? 200 : 403)
    t.is((await token.api.put(path, rrset({ subname }))).status, allowed ? 200 : 403)
    t.is((await token.api.delete(path)).status, allowed ? 204 : 403)
  }
})

test('a write of many or of deep names keeps to all policies', async (t) => {
  const { token, domain, rrsets } = await setup()
  const deep = 'a.b.c.d.e.f.g.h'
  await addPolicies(service(), token.id, { domain, write: true }, { domain, pattern: '**.e.f.g.h', write: false })
  await addPolicies(service(), token.id, { domain, subname: 'n99', write: false })
  const many = Array.from({ length: 100 }, (_, i) => rrset({ subname: `n${i}` }))
  t.is((await token.api.post(rrsets, rrset({ subname: deep }))).text, INSUFFICIENT)
  t.is((await token.api.patch(rrsets, many)).text, INSUFFICIENT)
  succeeded(
    await token.api.patch(rrsets, [...many.slice(0, -1), rrset({ subname: deep.slice(2).replace('e', 'x') })]),
    200,
  )
})

test('a pattern without a domain holds in all domains of the account, also in later ones, and in no others', async (t) => {
  const { account, token, rrsets } = await setup({ pattern: '**', write: true })
  const later = `/domains/${await newDomain(account.api)}/rrsets/`
  const stranger = await service().account()
  const foreign = await newDomain(stranger.api)
  for (const path of [rrsets, later]) {
    succeeded(await token.api.post(path, [rrset({ subname: 'a.b' }), rrset({ subname: '*' })]), 201)
    t.is((await token.api.post(path, rrset({ subname: '' }))).text, INSUFFICIENT)
  }
  t.is((await token.api.post(`/domains/${foreign}/rrsets/`, rrset())).status, 404)
})

test('a pattern permits domains below another one only where the token may write their NS there', async (t) => {
  const { account, domain } = await setup()
  const { api, id } = await addToken(service(), account.id, { permCreateDomain: true })
  await addPolicies(service(), id, { write: false }, { domain, pattern: '*.sub', type: 'NS', write: true })
  t.is((await api.post('/domains/', { name: `sub.${domain}` })).text, INSUFFICIENT)
  t.is((await api.post('/domains/', { name: `x.y.sub.${domain}` })).text, INSUFFICIENT)
  await newDomain(api, `y.sub.${domain}`)
})

test('a domain can be deleted by a pattern only with its apex, and not if a pattern for it denies', async (t) => {
  const { account, domain } = await setup()
  await newRRset(account.api, domain)
  const withRows = async (...rows: PolicyRow[]) => {
    const { api, id } = await addToken(service(), account.id, { permDeleteDomain: true })
    await addPolicies(service(), id, { write: false }, ...rows)
    return (await api.delete(`/domains/${domain}/`)).status
  }
  const all = { domain, pattern: '**', write: true }
  const apex = { domain, subname: '', write: true }
  t.is(await withRows(all), 403)
  t.is(await withRows(all, apex, { domain, pattern: 'absent.*', write: false }), 403)
  t.is(await withRows(all, apex), 204)
})

test('an override token sees the domains that its patterns name, and none for patterns without a domain', async (t) => {
  const { account, domain } = await setup()
  await newDomain(account.api)
  const owner = await service().account()
  const { api, id } = await addToken(service(), owner.id, { userOverrideId: account.id, permCreateDomain: true })
  await addPolicies(service(), id, { write: false }, { pattern: '**', write: true })
  t.deepEqual((await api.get('/domains/')).json, [])
  t.is((await api.post('/domains/', { name: `${freshName()}.${domain}` })).text, INSUFFICIENT)
  await addPolicies(service(), id, { domain, pattern: 'a.*', write: false })
  t.deepEqual(
    ((await api.get('/domains/')).json as { name: string }[]).map(({ name }) => name),
    [domain],
  )
})
