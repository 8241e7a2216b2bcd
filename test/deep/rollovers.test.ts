import test, { type ExecutionContext } from 'ava'
import { pause, resume } from '../../src/service/adoption/pausing.ts'
import { query } from '../../src/store/database.ts'
import type { Account } from '../support/clients/accounts.ts'
import { domainOf, succeeded } from '../support/clients/api.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { lookUp } from '../support/dns/dns.ts'
import { validate } from '../support/dns/validators.ts'
import { useService } from '../support/harness.ts'
import { follow, FORGOTTEN, SETTINGS, startStage, WAITS, WARM, type Stage } from '../support/rollovers/stage.ts'

// Replacement of keys (contract §15.10): from the beginning to the end, resolvers believe all answers. The tests run
// beside each other, because they wait most of the time.

const service = useService(SETTINGS, undefined, WAITS)

const SAME = ['publish', 'await-ds', 'await-ds-ttl']
const OTHER = ['sign', 'publish', 'await-ds', 'await-ds-ttl', 'unpublish']

interface Case {
  title: string
  name: string
  algorithm: string
  phases: string[]
  /** What makes the parent replace the DS. */
  parent: 'cds' | 'owner' | 'none'
  /** The keys at first: a pair of RSA, instead of one of algorithm 13. */
  hasPair?: boolean
}

const CASES: Case[] = [
  { title: '13 to 13', name: 'same.example', algorithm: 'ecdsa256', phases: SAME, parent: 'cds' },
  { title: '13 to 15', name: 'other.example', algorithm: 'ed25519', phases: OTHER, parent: 'cds' },
  { title: 'KSK and ZSK of 8 to 13', name: 'pair.example', algorithm: 'ecdsa256', phases: OTHER, parent: 'cds', hasPair: true },
  { title: '13 to 14 without DS', name: 'insecure.example', algorithm: 'ecdsa384', phases: OTHER, parent: 'none' },
  { title: '13 to 13, with a DS set by hand', name: 'manual.example', algorithm: 'ecdsa256', phases: SAME, parent: 'owner' },
] // prettier-ignore

let stage: Stage
let account: Account

test.before('the stage', async () => {
  stage = await startStage([service().powerDns], CASES.map(({ name }) => name))
  stage.place(service().system)
  account = await service().account()
}) // prettier-ignore

test.after.always(async () => {
  await (stage as Stage | undefined)?.close()
})

for (const { title, name, algorithm, phases, parent, hasPair = false } of CASES) {
  test(`resolvers believe all answers: ${title}`, async (t) => {
    const { api } = account
    const isSecure = parent !== 'none'
    await stage.addDomain(api, name)
    if (hasPair) await replaceByPair(name)
    if (isSecure) await stage.secure(api, name)
    else await stage.parent.delegate(name, [])
    const watch = stage.watch(name, isSecure)
    await watch.last(WARM)
    const stopParent = parent === 'cds' ? stage.followCds(name) : undefined
    const old = await domainOf(api, name)

    succeeded(await api.post(`/domains/${name}/rollover/`, { algorithm }), 201)
    let looks = 0
    const seen = await follow(api, name, async ({ phase, add_ds, remove_ds }) => {
      watch.phase = phase
      // The owner takes some time, and one thing after the other.
      const isOwner = parent === 'owner' && phase === 'await-ds'
      if (isOwner && ++looks === 10) await stage.parent.delegate(name, [...stage.parent.dsOf(name), ...add_ds])
      if (isOwner && looks === 20)
        await stage.parent.delegate(
          name,
          stage.parent.dsOf(name).filter((ds) => !remove_ds.includes(ds)),
        )
    })
    watch.phase = 'after'
    await watch.last(FORGOTTEN)
    t.deepEqual(await watch.stop(), [])
    await stopParent?.()
    t.true(watch.questions > 1_000)
    t.deepEqual(seen, phases)
    await hasOneKey(t, name, isSecure, old.keys[0]!.dnskey)
  })
}

/** Gives a domain a KSK and a ZSK of RSA, as if it had been adopted. */
async function replaceByPair(name: string): Promise<void> {
  const path = `/zones/${name}./cryptokeys`
  const { system } = service()
  await pause(system, name)
  const [{ id }] = (await service().pdns('GET', path)).json as [{ id: number }]
  for (const keytype of ['ksk', 'zsk']) {
    await service().pdns('POST', path, { keytype, active: true, published: true, algorithm: 'rsasha256', bits: 2048 })
  }
  await service().pdns('DELETE', `${path}/${id}`)
  await resume(system, name, 'theirs')
}

/** At the end there is one new key, which the parent knows, and the database and PowerDNS have the same. */
async function hasOneKey(t: ExecutionContext, name: string, isSecure: boolean, old: string): Promise<void> {
  const { keys } = await domainOf(account.api, name)
  t.is(keys.length, 1)
  t.not(keys[0]!.dnskey, old)
  t.is((await lookUp(service().powerDns, name, 'DNSKEY')).length, 1)
  t.deepEqual([...stage.parent.dsOf(name)].sort(), isSecure ? [...keys[0]!.ds].sort() : [])
  t.is(await validate(service().powerDns, name, keys[0]!.ds, `www.${name}`, 'A'), 'fully validated')
  t.deepEqual(await discrepanciesOf(service(), name), [])
  t.deepEqual(await query(service().system.db, 'select from marks where zone = :name', { name }), [])
}
