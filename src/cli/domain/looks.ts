import type { Command } from 'commander'
import type { Entry, Step } from '../../service/operation/looks.ts'
import { historyOf, lookAtDomain } from '../../service/operation/looks.ts'
import { type AddCommand, numberOr, shortTime } from '../command.ts'

/** The entries that `domain history` shows by default, and at most. */
const ENTRIES = 20
const ENTRIES_MOST = 500

/** Adds the commands by which the operator looks at a domain. */
export function addLooks(group: Command, add: AddCommand): void {
  add(group, 'show <name>', {}, async (system, name: string) => {
    const { domain, owner, keys, rollover, delegation, rrsets } = await lookAtDomain(system, name)
    const facts = {
      name,
      owner: owner.email,
      owner_state: owner.state,
      state: stateOf(domain),
      suspended: domain.suspended,
      created: domain.created,
      published: domain.published,
      touched: domain.touched,
      version: domain.version,
      minimum_ttl: domain.minimumTtl,
      denial: domain.denial === '' ? 'nsec' : 'nsec3',
      delegation: delegation ?? 'unknown',
      rollover: rollover ?? null,
      rrsets: domain.size,
      octets: domain.octets,
    }
    const ds = keys.flatMap((key) => key.ds)
    const shown = rrsets.map(({ subname, type, ttl, records }) => ({ subname, type, ttl, records }))
    const more = domain.size - shown.length
    return {
      lines: [
        ...Object.entries(facts).map(([what, value]) => `${what.padEnd(11)}  ${value ?? 'no'}`),
        ...ds.map((content) => `ds           ${content}`),
        '',
        ...shown.flatMap(({ subname, type, ttl, records }) =>
          records.map((record) => `${subname === '' ? name : `${subname}.${name}`}. ${ttl} ${type} ${record}`),
        ),
        ...(more > 0 ? [`and ${more} more RRsets`] : []),
      ],
      json: { ...facts, ds, contents: shown },
    }
  }).description('show whose a domain is, its state, and its newest RRsets')
  add(group, 'history <name>', {}, async (system, name: string, { limit = ENTRIES }: { limit?: number }) => {
    const entries = await historyOf(system, name, limit)
    return { lines: entries.flatMap(linesOf), json: entries.map(present) }
  })
    .description('show who changed what in a domain, newest first; also in a deleted one')
    .option('--limit <number>', `how many entries (default: ${ENTRIES})`, numberOr(undefined, 1, ENTRIES_MOST))
}

/** Describes in a word whether a domain is served. */
export function stateOf({ paused, suspended }: { paused: boolean; suspended: string | null }): string {
  if (suspended !== null) return 'suspended'
  return paused ? 'paused' : 'served'
}

function present({ tokenId, tokenName, requestId, ...entry }: Entry) {
  const changes = entry.changes?.map(({ before, after, ...key }) => ({
    ...key,
    before: before ?? null,
    after: after ?? null,
  }))
  return {
    ...entry,
    token: tokenId === null ? null : { id: tokenId, name: tokenName },
    request_id: requestId,
    changes: changes ?? null,
  }
}

function linesOf(entry: Entry): string[] {
  const { created, version, source, owner, tokenId, tokenName, requestId, message, rollover, count, changes } = entry
  const facts = [
    `version ${version}`,
    source,
    ...(owner === null ? [] : [`by ${owner}`]),
    ...(tokenId === null ? [] : [`token ${tokenId} ${tokenName === null ? '(deleted)' : JSON.stringify(tokenName)}`]),
    ...(requestId === null ? [] : [`request ${requestId}`]),
    ...(rollover === null ? [] : [`${rollover.action}: ${rollover.phase ?? 'done'}`]),
  ]
  const head = `${shortTime(created)}  ${facts.join(', ')}`
  const said = message === null ? [] : [`  ${message}`]
  return [head, ...said, ...(changes === null ? [`  ${count} RRsets, too many to show`] : changes.flatMap(stepLines))]
}

/** A step in lines: what it removed after a minus, what it left after a plus. */
function stepLines({ subname, type, before, after }: Step): string[] {
  const side = (sign: string, state: Step['before']) =>
    state === undefined ? [] : [`  ${sign} ${subname || '@'} ${state.ttl} ${type} ${state.records.join(', ')}`]
  return [...side('-', before), ...side('+', after)]
}
