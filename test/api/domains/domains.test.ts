import {
  domainOf,
  freshName,
  newDomain,
  newZone,
  setMinimumTtl,
  type ShownDomain,
  succeeded,
} from '../../support/clients/api.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService()

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
const NOT_FOUND = '{"detail":"Not found."}'

/** A domain with its members in the contract's order, as compact JSON. */
function inOrder({ created, published, name, keys, minimum_ttl, touched }: ShownDomain): string {
  return JSON.stringify({
    ...{ created, published, name },
    keys: keys.map(({ dnskey, ds, flags, keytype, managed }) => ({ dnskey, ds, flags, keytype, managed })),
    ...{ minimum_ttl, touched },
  })
}

function withoutKeys({ created, published, name, minimum_ttl, touched }: ShownDomain) {
  return { created, published, name, minimum_ttl, touched }
}

test('creating a domain is 201 and shows its members in order, and so does GET', async (t) => {
  const { api } = await service().account()
  const name = freshName()
  const answer = await api.post('/domains/', { name })
  t.is(answer.status, 201)
  const domain = answer.json as ShownDomain
  t.is(answer.text, inOrder(domain))
  t.is(domain.name, name)
  t.is(domain.minimum_ttl, 60)
  t.is(domain.keys.length, 1)
  t.regex(domain.created, TIME)
  t.deepEqual([domain.published, domain.touched], [domain.created, domain.created])
  const shown = await api.get(`/domains/${name}/`)
  t.deepEqual([shown.status, shown.text], [200, answer.text])
})

test("the list contains the account's domains without keys, newest first", async (t) => {
  const { api } = await service().account()
  const other = await service().account()
  const own: string[] = []
  for (let i = 0; i < 4; i++) {
    own.push(await newDomain(api))
    await newDomain(other.api)
  }
  const shown = await Promise.all(own.toReversed().map((name) => domainOf(api, name)))
  const answer = await api.get('/domains/')
  t.is(answer.status, 200)
  t.is(answer.text, JSON.stringify(shown.map(withoutKeys)))
})

test('a foreign domain behaves like an absent one', async (t) => {
  const [{ api }, other] = [await service().account(), await newZone(service(), {})]
  for (const name of [other.domain, freshName(), '@', other.domain.toUpperCase()]) {
    for (const path of ['', 'rrsets/', 'rrsets/www/A/', 'rrsets/@/NS/', 'rrsets/@/SOA/']) {
      for (const method of path === '' ? ['GET'] : ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const options = { body: '{', headers: { 'content-type': 'application/json' } }
        const { status, text } = await api.send(
          method,
          `/domains/${name}/${path}`,
          undefined,
          method === 'GET' ? {} : options,
        )
        t.deepEqual([status, text], [404, NOT_FOUND], `${method} ${path}`)
      }
    }
  }
  t.deepEqual((await api.get(`/domains/?owns_qname=${other.domain}`)).json, [])
  t.false((await api.get('/domains/')).text.includes(other.domain))
  t.is((await other.api.get(other.one)).status, 200)
})

test('the name in the path is matched literally', async (t) => {
  const { api } = await service().account()
  const name = await newDomain(api)
  const others = [name.toUpperCase(), `${name}.`, `%20${name}`, `${name}%00`, `www.${name}`, '%2A', '_', '..%2e', '%ff']
  for (const other of others) {
    const answer = await api.get(`/domains/${other}/`)
    t.deepEqual([answer.status, answer.text], [404, NOT_FOUND], other)
  }
  t.is((await api.get(`/domains/${name.replace('.', '%2e')}/`)).status, 200)
})

test('read-only and unknown members are ignored, whatever their values', async (t) => {
  const { api } = await service().account()
  const name = freshName()
  const wrong = { name, created: 1, published: 'x', touched: [], keys: null, minimum_ttl: 'x', owner: {} }
  const domain = succeeded(await api.post('/domains/', wrong), 201).json as ShownDomain
  t.is(domain.minimum_ttl, 60)
  t.regex(domain.created, TIME)
})

test('the operator can change the minimum TTL of one domain', async (t) => {
  const { api } = await service().account()
  const [name, other] = [await newDomain(api), await newDomain(api)]
  await setMinimumTtl(service(), name, 3600)
  t.is((await domainOf(api, name)).minimum_ttl, 3600)
  t.is((await domainOf(api, other)).minimum_ttl, 60)
  const shown = ((await api.get('/domains/')).json as ShownDomain[]).map(({ minimum_ttl }) => minimum_ttl)
  t.deepEqual(shown, [60, 3600])
})
