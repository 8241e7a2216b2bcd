import type { ExecutionContext } from 'ava'
import { pause, resume } from '../../../src/service/adoption/pausing.ts'
import { query } from '../../../src/store/database.ts'
import type { System } from '../../../src/system.ts'
import { domainOf, succeeded } from '../clients/api.ts'
import type { Client } from '../clients/client.ts'
import { discrepanciesOf } from '../dns/discrepancies.ts'
import { lookUp } from '../dns/dns.ts'
import { validate } from '../dns/validators.ts'
import type { Servers } from '../servers/servers.ts'
import { follow, FORGOTTEN, type ShownRollover, type Stage, WARM } from './stage.ts'

const SAME = ['publish', 'await-ds', 'await-ds-ttl']
const OTHER = ['sign', 'publish', 'await-ds', 'await-ds-ttl', 'unpublish']

/** A kind of rollover, and the domain in which it is tried. */
export interface Kind {
  title: string
  name: string
  algorithm: string
  phases: string[]
  /** What makes the parent replace the DS. */
  parent: 'cds' | 'owner' | 'none'
  /** The keys at first: a pair of RSA, instead of one of algorithm 13. */
  hasPair?: boolean
}

export const KINDS: Kind[] = [
  { title: '13 to 13', name: 'same.example', algorithm: 'ecdsa256', phases: SAME, parent: 'cds' },
  { title: '13 to 15', name: 'other.example', algorithm: 'ed25519', phases: OTHER, parent: 'cds' },
  { title: 'KSK and ZSK of 8 to 13', name: 'pair.example', algorithm: 'ecdsa256', phases: OTHER, parent: 'cds', hasPair: true },
  { title: '13 to 14 without DS', name: 'insecure.example', algorithm: 'ecdsa384', phases: OTHER, parent: 'none' },
  { title: '13 to 13, with a DS set by hand', name: 'manual.example', algorithm: 'ecdsa256', phases: SAME, parent: 'owner' },
] // prettier-ignore

/** The service in which keys are replaced, and what surrounds it. */
export interface Place extends Pick<Servers, 'powerDns' | 'pdns'> {
  system: System
  api: Client
  stage: Stage
}

/** What a test does meanwhile. */
interface Acts {
  /** Called when resolvers know the domain. */
  before: () => Promise<void>
  /** Called with each look at the rollover. */
  look: (rollover: ShownRollover, isNew: boolean) => Promise<void>
}

/** Replaces the keys of a new domain, from the beginning to the end: resolvers believe all answers. */
export async function replaceKeys(t: ExecutionContext, place: Place, kind: Kind, acts?: Acts): Promise<void> {
  const { api, stage } = place
  const { name, algorithm, phases, parent, hasPair = false } = kind
  const isSecure = parent !== 'none'
  await stage.addDomain(api, name)
  if (hasPair) await replaceByPair(place, name)
  if (isSecure) await stage.secure(api, name)
  else await stage.parent.delegate(name, [])
  await acts?.before()
  const watch = stage.watch(name, isSecure)
  await watch.last(WARM)
  const stopParent = parent === 'cds' ? stage.followCds(name) : undefined
  const old = await domainOf(api, name)

  succeeded(await api.post(`/domains/${name}/rollover/`, { algorithm }), 201)
  let looks = 0
  const seen = await follow(api, name, async (rollover, isNew) => {
    const { phase, add_ds, remove_ds } = rollover
    watch.phase = phase
    await acts?.look(rollover, isNew)
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
  await hasOneKey(t, place, name, isSecure, old.keys[0]!.dnskey)
}

/** Gives a domain a KSK and a ZSK of RSA, as if it had been adopted. */
async function replaceByPair({ api, system, pdns }: Place, name: string): Promise<void> {
  const path = `/zones/${name}./cryptokeys`
  await pause(system, name)
  const [{ id }] = (await pdns('GET', path)).json as [{ id: number }]
  for (const keytype of ['ksk', 'zsk']) {
    await pdns('POST', path, { keytype, active: true, published: true, algorithm: 'rsasha256', bits: 2048 })
  }
  await pdns('DELETE', `${path}/${id}`)
  await resume(system, name, 'theirs')
  // Keys that are changed at PowerDNS do not move the serial, by which secondaries see a change.
  succeeded(await api.patch(`/domains/${name}/rrsets/www/A/`, { records: ['192.0.2.2'] }), 200)
}

/** At the end there is one new key, which the parent knows, and the database and PowerDNS have the same. */
async function hasOneKey(t: ExecutionContext, place: Place, name: string, isSecure: boolean, old: string) {
  const { api, stage, powerDns, system } = place
  const { keys } = await domainOf(api, name)
  t.is(keys.length, 1)
  t.not(keys[0]!.dnskey, old)
  t.is((await lookUp(powerDns, name, 'DNSKEY')).length, 1)
  t.deepEqual([...stage.parent.dsOf(name)].sort(), isSecure ? [...keys[0]!.ds].sort() : [])
  t.is(await validate(powerDns, name, keys[0]!.ds, `www.${name}`, 'A'), 'fully validated')
  t.deepEqual(await discrepanciesOf(place, name), [])
  t.deepEqual(await query(system.db, 'select from marks where zone = :name', { name }), [])
}
