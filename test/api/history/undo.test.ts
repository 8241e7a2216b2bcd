import fc from 'fast-check'
import {
  freshName,
  newDomain,
  newReservedDomain,
  newRRset,
  newZone,
  rrset,
  succeeded,
} from '../../support/clients/api.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { depth } from '../../support/depth.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { useService } from '../../support/harness.ts'
import { SEED } from '../../support/random.ts'
import { test } from '../../support/serial.ts'
import { changesIn, contentsOf, entriesOf, restore, undo } from '../../support/state/history.ts'
import { snapshot } from '../../support/state/snapshot.ts'

// Undo and restore (contract §15.5).

const service = useService({ LOCAL_PUBLIC_SUFFIXES: 'dyn.example.net' })

const prepare = () => newZone(service(), {})

test('an undo puts each RRset back, tells the changes, and can itself be undone', async (t) => {
  const { api, domain, rrsets } = await prepare()
  const before = await contentsOf(api, domain)
  await api.put(rrsets, [rrset({ ttl: 60 }), rrset({ subname: 'x' })])
  const changed = await contentsOf(api, domain)
  const [entry] = await entriesOf(api, domain)
  const made = await changesIn(api, domain, entry!)
  const { json } = succeeded(await undo(api, domain, entry!), 200)
  t.deepEqual(json, { changes: made.map(({ before, after, ...key }) => ({ ...key, before: after, after: before })) })
  t.deepEqual(await contentsOf(api, domain), before)
  t.deepEqual(await lookUp(service().powerDns, `x.${domain}`, 'A'), [])
  succeeded(await undo(api, domain, (await entriesOf(api, domain))[0]!), 200)
  t.deepEqual(await contentsOf(api, domain), changed)
})

test('a change that was overtaken cannot be undone: 409 names what is in the way', async (t) => {
  const { api, domain, rrsets } = await prepare()
  await api.put(rrsets, [rrset({ ttl: 60 }), rrset({ subname: 'x' }), rrset({ subname: 'y' })])
  const [entry] = await entriesOf(api, domain)
  await api.put(rrsets, [rrset({ ttl: 61 }), rrset({ subname: 'y', records: [] })])
  const contents = await contentsOf(api, domain)
  for (const query of ['', '?dry_run=true']) {
    const { status, text } = await undo(api, domain, entry!, query)
    t.is(status, 409)
    t.is(
      text,
      '{"detail":"Later changes are in the way.","conflicts":[{"subname":"www","type":"A"},{"subname":"y","type":"A"}]}',
    )
  }
  t.deepEqual(await contentsOf(api, domain), contents)
})

test('an RRset that cannot stand beside what would come back is in the way', async (t) => {
  const { api, domain, rrsets } = await prepare()
  await newRRset(api, domain, { subname: 'c', type: 'CNAME', records: ['a.test.'] })
  await api.delete(`${rrsets}c/CNAME/`)
  const [cname] = await entriesOf(api, domain)
  await newRRset(api, domain, { subname: 'c', type: 'TXT', records: ['"x"'] })
  t.like(await undo(api, domain, cname!), {
    status: 409,
    json: { detail: 'Later changes are in the way.', conflicts: [{ subname: 'c', type: 'TXT' }] },
  })
  await api.delete(`${rrsets}c/TXT/`)
  const [txt] = await entriesOf(api, domain)
  await newRRset(api, domain, { subname: 'c', type: 'CNAME', records: ['b.test.'] })
  t.like(await undo(api, domain, txt!), { status: 409, json: { conflicts: [{ subname: 'c', type: 'CNAME' }] } })
})

test('later changes of other RRsets are not in the way', async (t) => {
  const { api, domain, rrsets } = await prepare()
  await api.patch(`${rrsets}www/A/`, { ttl: 60 })
  const [entry] = await entriesOf(api, domain)
  await newRRset(api, domain, { type: 'TXT', records: ['"x"'] })
  succeeded(await undo(api, domain, entry!), 200)
  t.like(await contentsOf(api, domain), { 'www A': '3600 192.0.2.1', 'www TXT': '3600 "x"' })
})

test('dry runs of undo and restore tell what the real ones do, and leave nothing behind', async (t) => {
  const { api, domain, rrsets } = await prepare()
  await api.put(rrsets, [rrset({ ttl: 60 }), rrset({ subname: 'x' })])
  const [entry, former] = await entriesOf(api, domain)
  const before = await snapshot(service().system.db)
  const calls = service().proxy.calls.length
  const dry = [
    succeeded(await undo(api, domain, entry!, '?dry_run=true'), 200).text,
    succeeded(await restore(api, domain, { version: former!.version }, '?dry_run=true'), 200).text,
  ]
  t.is(await snapshot(service().system.db), before)
  t.is(service().proxy.calls.length, calls)
  t.is((await undo(api, domain, entry!)).text, dry[0]!)
  succeeded(await undo(api, domain, (await entriesOf(api, domain))[0]!), 200)
  t.is((await restore(api, domain, { version: former!.version })).text, dry[1]!)
})

test('policies hold for each RRset that an undo or a restore would write', async (t) => {
  const { account, api, domain, rrsets } = await prepare()
  await api.put(rrsets, [rrset({ ttl: 60 }), rrset({ subname: 'x' })])
  const [entry, former] = await entriesOf(api, domain)
  const { id, api: limited } = await addToken(service(), account.id)
  await addPolicies(service(), id, { write: false }, { subname: 'www', write: true })
  const denied = [403, '{"detail":"Insufficient token permissions."}']
  const contents = await contentsOf(api, domain)
  for (const answer of [
    await undo(limited, domain, entry!),
    await undo(limited, domain, entry!, '?dry_run=true'),
    await restore(limited, domain, { version: former!.version }),
  ]) {
    t.deepEqual([answer.status, answer.text], denied)
  }
  t.deepEqual(await contentsOf(api, domain), contents)
  await api.delete(`${rrsets}x/A/`)
  succeeded(await restore(limited, domain, { version: former!.version }), 200)
  t.like(await contentsOf(api, domain), { 'www A': '3600 192.0.2.1' })
})

test('the tag of the domain makes an undo or a restore conditional; If-None-Match never holds', async (t) => {
  const { api, domain } = await prepare()
  const [entry, former] = await entriesOf(api, domain)
  const tag = (await api.get(`/domains/${domain}/`)).headers['etag'] as string
  const paths: [path: string, body: unknown][] = [
    [`history/${entry!.id}/undo/`, undefined],
    ['restore/', { version: former!.version }],
  ]
  for (const [path, body] of paths) {
    for (const headers of [{ 'if-match': '"x"' }, { 'if-none-match': '*' }, { 'if-none-match': '"x"' }]) {
      const { status } = await api.post(`/domains/${domain}/${path}`, body, {
        headers: headers,
      })
      t.is(status, 412)
    }
    const query = '?dry_run=true'
    t.is((await api.post(`/domains/${domain}/${path}${query}`, body, { headers: { 'if-match': tag } })).status, 200)
  }
})

test('a time or a version says which state is wanted, and it must be known', async (t) => {
  const { api, domain } = await prepare()
  const [, creation] = await entriesOf(api, domain)
  const time = { at: ['There is no history of that time.'] }
  const version = { version: ['There is no history of that version.'] }
  const wrong = (await restore(api, domain, { at: 'yesterday' })).json as { at: string[] }
  t.regex(wrong.at[0]!, /^Datetime has wrong format\./)
  const either = { non_field_errors: ['Give either at or version.'] }
  for (const [when, problem] of [
    [{}, either],
    [{ at: creation!.created, version: 1 }, either],
    [{ at: '2020-01-01T00:00:00Z' }, time],
    [{ at: '2999-01-01T00:00:00Z' }, time],
    [{ at: '0001-01-01T00:00:00+23:59' }, undefined],
    [{ version: 1 }, version],
    [{ version: 2 ** 40 }, version],
    [{ version: 'x' }, { version: ['A valid integer is required.'] }],
  ] as [object, unknown][]) {
    const { status, json } = await restore(api, domain, when)
    t.is(status, 400)
    if (problem !== undefined) t.deepEqual(json, problem)
  }
  // The same time in another zone, without fraction: in the second of the creation or the next.
  const local = new Date(Math.ceil(Date.parse(creation!.created) / 1000) * 1000 + 3_600_000).toISOString().slice(0, 19)
  const { system } = service()
  const { now } = system
  system.now = () => new Date(Date.parse(now()) + 1000).toISOString().replace('Z', '000Z')
  const restored = await restore(api, domain, { at: `${local}+01:00` })
  system.now = now
  t.is(restored.status, 200)
})

test('NS RRsets below a local public suffix are not undone, either', async (t) => {
  const operator = await service().account()
  await newReservedDomain(service(), operator.id, 'dyn.example.net')
  const { api } = await service().account()
  const domain = await newDomain(api, 'child.dyn.example.net')
  // As another one that was there before its parent became a local public suffix.
  await service().sql(
    `with domain as (update domains set size = size + 1 where name = :domain returning id)
     insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
     select id, 'a', 'NS', 60, '{ns.example.}', now(), now() from domain`,
    { domain },
  )
  succeeded(await api.delete(`/domains/${domain}/rrsets/a/NS/`), 204)
  const [deletion] = await entriesOf(api, domain)
  const { status, json } = await undo(api, domain, deletion!)
  t.deepEqual([status, json], [400, { type: ['Cannot modify NS records for this domain.'] }])
})

test('the creation of a domain cannot be undone: with a zone file, without one, or by the operator', async (t) => {
  const { api, id } = await service().account()
  const [imported, named, made] = [freshName(), freshName(), freshName()]
  succeeded(await api.post('/domains/', { name: imported, zonefile: 'www 60 A 192.0.2.1' }), 201)
  succeeded(await api.post('/domains/', { name: named }), 201)
  await newReservedDomain(service(), id, made)
  for (const [domain, source] of [
    [imported, 'import'],
    [named, 'creation'],
    [made, 'operator'],
  ] as const) {
    const contents = await contentsOf(api, domain)
    const [creation] = await entriesOf(api, domain)
    t.is(creation!.source, source)
    for (const search of ['', '?dry_run=true']) {
      const { status, text } = await undo(api, domain, creation!, search)
      t.deepEqual([status, text], [409, '{"detail":"The creation of a domain cannot be undone."}'])
    }
    t.deepEqual(await contentsOf(api, domain), contents)
  }
})

test('PowerDNS refuses a state: 400, and nothing changes', async (t) => {
  const { api, domain, rrsets } = await prepare()
  await api.patch(`${rrsets}www/A/`, { ttl: 60 })
  const [entry, former] = await entriesOf(api, domain)
  const before = await contentsOf(api, domain)
  service().proxy.fail(({ method }) => (method === 'PATCH' ? { refuse: 422, error: 'no' } : 'pass'))
  const answers = [await undo(api, domain, entry!), await restore(api, domain, { version: former!.version })]
  service().proxy.heal()
  for (const { status, json } of answers) {
    t.deepEqual([status, json], [400, { non_field_errors: ['The DNS backend refused this state: no'] }])
  }
  t.deepEqual(await contentsOf(api, domain), before)
})

const CONTENTS: Record<string, string[]> = {
  A: ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
  CNAME: ['a.test.', 'b.test.'],
  TXT: ['"a\\"b"', '"[\\"www\\",\\"A\\""'],
}
const ITEM = fc
  .record({
    subname: fc.constantFrom('www', 'mail', '*.x'),
    type: fc.constantFrom(...Object.keys(CONTENTS)),
    ttl: fc.constantFrom(60, 3600),
  })
  .chain((item) => {
    const maxLength = item.type === 'CNAME' ? 1 : CONTENTS[item.type]!.length
    return fc.shuffledSubarray(CONTENTS[item.type]!, { maxLength }).map((records) => ({ ...item, records }))
  })
const WRITE = fc.uniqueArray(ITEM, {
  selector: ({ subname, type }) => `${type} ${subname}`,
  minLength: 1,
  maxLength: 4,
})

test('after random writes, each earlier version can be restored in turn, exactly', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(WRITE, { minLength: 3, maxLength: 12 }), fc.nat(), async (writes, choice) => {
      const { api, domain, rrsets } = await prepare()
      const states = new Map<number, Record<string, string>>()
      const times = new Map<number, string>()
      const note = async () => {
        const [newest] = await entriesOf(api, domain)
        states.set(newest!.version, await contentsOf(api, domain))
        times.set(newest!.version, newest!.created)
      }
      await note()
      for (const items of writes) {
        await api.put(rrsets, items)
        await note()
      }
      const versions = [...states.keys()]
      const shuffled = [...versions.slice(choice % versions.length), ...versions.slice(0, choice % versions.length)]
      for (const [i, version] of [...versions.toReversed(), ...shuffled].entries()) {
        succeeded(await restore(api, domain, i % 2 === 0 ? { version } : { at: times.get(version) }), 200)
        t.deepEqual(await contentsOf(api, domain), states.get(version))
      }
    }),
    { numRuns: depth(4, 12), seed: SEED },
  )
})

/** Writes of which each replaces the former one: only the newest can be undone. */
const OVERTAKEN = [60, 3600, 60].map((ttl) => [{ subname: 'www', type: 'A', ttl, records: ['192.0.2.1'] }])

test('after random writes, undo of the newest is its inverse; undo of an older one applies cleanly or names what is in the way', async (t) => {
  const tally = { clean: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(WRITE, { minLength: 3, maxLength: 8 }), fc.nat(), async (writes, choice) => {
      const { api, domain, rrsets } = await prepare()
      const before: Record<string, string>[] = []
      for (const items of writes) {
        const contents = await contentsOf(api, domain)
        const count = (await entriesOf(api, domain)).length
        await api.put(rrsets, items)
        if ((await entriesOf(api, domain)).length > count) before.push(contents)
      }
      if (before.length === 0) return
      const entries = await entriesOf(api, domain)
      succeeded(await undo(api, domain, entries[0]!), 200)
      t.deepEqual(await contentsOf(api, domain), before.at(-1))
      succeeded(await undo(api, domain, (await entriesOf(api, domain))[0]!), 200)
      const now = await contentsOf(api, domain)
      // The last entry is the creation of the domain.
      const older = entries[choice % (entries.length - 1)]!
      const steps = await changesIn(api, domain, older)
      const { status, json } = await undo(api, domain, older)
      const text = (state: { ttl: number; records: string[] } | null) =>
        state === null ? undefined : `${state.ttl} ${[...state.records].sort().join(' ')}`
      const after = await contentsOf(api, domain)
      if (status === 200) {
        tally.clean++
        for (const { subname, type, before: state } of steps) t.is(after[`${subname} ${type}`], text(state))
        for (const key of Object.keys({ ...now, ...after })) {
          if (!steps.some(({ subname, type }) => key === `${subname} ${type}`)) t.is(after[key], now[key])
        }
        return
      }
      tally.refused++
      t.is(status, 409)
      t.deepEqual(after, now)
      const { conflicts } = json as { conflicts: { subname: string; type: string }[] }
      const overtaken = steps.filter(({ subname, type, after: left }) => now[`${subname} ${type}`] !== text(left))
      const named = conflicts.map(({ subname, type }) => `${subname} ${type}`)
      for (const { subname, type } of overtaken) t.true(named.includes(`${subname} ${type}`))
      t.true(named.length > 0)
    }),
    {
      numRuns: depth(12, 40),
      seed: SEED,
      examples: [
        [OVERTAKEN, 0],
        [OVERTAKEN, 1],
      ],
    },
  )
  t.true(tally.clean > 0 && tally.refused > 0, JSON.stringify(tally))
})
