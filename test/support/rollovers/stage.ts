import test from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import { Parents } from '../../../src/nameserver/parents/parents.ts'
import type { System } from '../../../src/system.ts'
import { domainOf, newDomain, newRRset, succeeded } from '../clients/api.ts'
import type { Client } from '../clients/client.ts'
import type { Server } from '../dns/dns.ts'
import { query, rrsetsOf, type WireRecord } from '../dns/wire.ts'
import { FAST } from '../dns/world.ts'
import type { TestService } from '../harness.ts'
import { DS_TTL, type SignedParent, startParent } from './parent.ts'
import { type Resolvers, startResolvers } from './resolvers.ts'
import { Watch } from './watch.ts'

/** What the service waits for instead of hours: `dnskeyTtl` is the TTL of DNSKEY indeed. */
export const WAITS = { dnskeyTtl: 3, dsMargin: 1, dsTtl: DS_TTL, parentPause: 1 }

/** The TTL of most RRsets of a domain, and of one that lives for longer than all waits for DNSKEY and DS together. */
const TTL = 3
const LONG_TTL = 20

/** The settings of a service on the stage. */
export const SETTINGS = { MINIMUM_TTL: '1' }

/** Milliseconds between two looks of a parent at CDS, and of a test at a rollover. */
const LOOK_PAUSE = 200

/** A rollover as the API shows it. */
export interface ShownRollover {
  phase: string
  waits_for: string
  can_cancel: boolean
  add_ds: string[]
  remove_ds: string[]
}

/** What surrounds domains whose keys are replaced: a parent zone, and resolvers that validate. */
export interface Stage {
  parent: SignedParent
  resolvers: Resolvers
  /** Lets services ask the parent of this stage. */
  place(system: System): void
  /** A domain without DS at the parent, with what a `Watch` asks for. */
  addDomain(api: Client, name: string): Promise<void>
  /** Gives the parent the DS of all its keys. */
  secure(api: Client, name: string): Promise<void>
  watch(name: string, isSecure?: boolean): Watch
  /** Lets the parent do what valid CDS say (RFC 7344), until the returned function is called. */
  followCds(name: string): () => Promise<void>
  close(): Promise<void>
}

/** The stage of a service with SETTINGS and WAITS, for domains with these names. */
export function useStage(service: () => Pick<TestService, 'system' | 'powerDns'>, names: string[]): () => Stage {
  let stage: Stage | undefined
  test.before('the stage', async () => {
    stage = await startStage([service().powerDns], names)
    stage.place(service().system)
  })
  test.after.always('the stage ends', async () => {
    await stage?.close()
  })
  return () => stage!
}

/** @param nameservers of the domains with these names; the first is the PowerDNS of the service */
export async function startStage(nameservers: readonly [Server, ...Server[]], names: string[]): Promise<Stage> {
  const [{ dnsPort: port }] = nameservers
  const parent = await startParent(port)
  const watches: Watch[] = []
  const resolvers = await startResolvers(parent, Object.fromEntries(names.map((name) => [name, nameservers])), port)
  return {
    parent,
    resolvers,
    place(system) {
      const endpoints = [{ address: resolvers.any.dnsHost, port }]
      Object.assign(system, {
        parents: new Parents({ resolvers: endpoints, isAllowed: () => true, port, clock: FAST }),
      })
    },
    async addDomain(api, name) {
      await newDomain(api, name)
      const records = ['192.0.2.1']
      for (const subname of ['www', '*.wild']) await newRRset(api, name, { subname, type: 'A', ttl: TTL, records })
      await newRRset(api, name, { subname: 'long', type: 'A', ttl: LONG_TTL, records })
      succeeded(await api.patch(`/domains/${name}/rrsets/@/NS/`, { ttl: TTL }), 200)
    },
    async secure(api, name) {
      await parent.delegate(
        name,
        (await domainOf(api, name)).keys.flatMap(({ ds }) => ds),
      )
    },
    watch(name, isSecure = true) {
      const watched = { name, isSecure, resolvers: resolvers.validating, nameservers, parents: parent.servers }
      const watch = new Watch(watched)
      watches.push(watch)
      return watch
    },
    followCds(name) {
      const over = new AbortController()
      const running = (async () => {
        while (!over.signal.aborted) {
          const wanted = await cdsAt(nameservers[0], name)
          const isNew = wanted.length > 0 && wanted.join() !== [...parent.dsOf(name)].sort().join()
          // The chain of trust is that of the present DS.
          const { isAuthentic, answers } = await query(resolvers.any, name, 'CDS', { recursive: true })
          if (isNew && isAuthentic && wanted.join() === cdsAmong(answers).join()) await parent.delegate(name, wanted)
          await sleep(LOOK_PAUSE)
        }
      })()
      return async () => {
        over.abort()
        await running
      }
    },
    async close() {
      // Those of tests that have failed still run.
      await Promise.all(watches.map((watch) => watch.stop()))
      await Promise.all([parent.close(), resolvers.close()])
    },
  }
}

async function cdsAt(server: Server, name: string): Promise<string[]> {
  return cdsAmong((await query(server, name, 'CDS')).answers)
}

function cdsAmong(answers: WireRecord[]): string[] {
  return rrsetsOf(answers).flatMap(({ type, records }) => (type === 'CDS' ? records : []))
}

/** Seconds after which all caches have been asked for everything, and after which they have forgotten keys and DS. */
export const WARM = TTL
export const FORGOTTEN = TTL + DS_TTL + 1

/**
 * Follows a rollover to its end, and returns its phases.
 * @param act called with each look at it
 */
export async function follow(
  api: Client,
  name: string,
  act: (rollover: ShownRollover, isNew: boolean) => Promise<void> | void = () => undefined,
): Promise<string[]> {
  const phases: string[] = []
  for (;;) {
    const answer = await api.get(`/domains/${name}/rollover/`)
    if (answer.status === 404) return phases
    const rollover = succeeded(answer, 200).json as ShownRollover
    const isNew = phases.at(-1) !== rollover.phase
    if (isNew) phases.push(rollover.phase)
    await act(rollover, isNew)
    await sleep(LOOK_PAUSE)
  }
}
