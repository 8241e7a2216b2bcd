import type { Command } from 'commander'
import { NotFound } from '../errors.ts'
import * as accounts from '../service/accounts/accounts.ts'
import type { Adoption, AdoptionRequest } from '../service/adoption/adoption.ts'
import * as adoption from '../service/adoption/adoption.ts'
import { strangers } from '../service/adoption/strangers.ts'
import type { System } from '../system.ts'
import { type AddCommand, tellProgress, WRITES } from './command.ts'

type Options = Omit<AdoptionRequest, 'ownerOf'> & {
  all: boolean
  account?: string
  byAccountField: boolean
  verbose: boolean
}

/** The number of zones, and of other texts, that are shown of a list without --verbose. */
const SHOWN = 10

export function addAdopt(program: Command, add: AddCommand): void {
  add(program, 'adopt [zones...]', WRITES, async (system, zones: string[], options: Options) => {
    const names = options.all ? (await strangers(system)).map(({ name }) => name) : zones
    const request = { ...options, ownerOf: owners(options) }
    // A line for each zone would hide the progress.
    system.log.level = 'error'
    const outcomes = await adoption.adoptAll(system, names, request, tellProgress)
    const refused = outcomes.filter(isRefused)
    const zoneLines = options.verbose ? outcomes.flatMap(effectsOf) : shortened(refused, reasonsOf)
    return {
      lines: [...zoneLines, ...summaryOf(outcomes, options.apply), ...(await limitLines(system, outcomes))],
      json: outcomes,
      succeeded: refused.length === 0,
    }
  })
    .description('show the effects of adopting foreign zones at PowerDNS; with --apply, make them domains')
    .option('--all', 'all foreign zones', false)
    .option('--account <email>', 'the account that will own them')
    .option('--by-account-field', "PowerDNS' field `account` has the e-mail address of the owner", false)
    .option('--clamp-ttl', 'raise or lower TTLs that the API does not accept', false)
    .option('--drop-disabled', 'omit disabled records', false)
    .option('--allow-public-suffix', 'also adopt names that no account can register', false)
    .option('--nsec3', 'change NSEC, and other parameters of NSEC3, to NSEC3 1 0 0 -', false)
    .option('--keep-soa', 'leave the SOA as it is until the first change', false)
    .option('--apply', 'adopt the zones', false)
    .option('--verbose', 'show the effects on each zone', false)
  add(program, 'release <zone>', { nameserver: true }, async (system, zone: string) => {
    await adoption.release(system, zone)
    return { lines: [`${zone}: released`], json: { zone } }
  }).description('remove a domain from the database, and leave its zone at PowerDNS as it is')
}

/** Returns the function that names the account for a zone's domain. @throws NotFound if no option names one */
function owners({ account, byAccountField }: Options): (field: string) => string {
  if (account !== undefined) return () => account
  if (byAccountField) return (field) => field
  throw new NotFound('Whose domains will they be? Give --account or --by-account-field.')
}

function isRefused({ obstacles }: Adoption): boolean {
  return obstacles.length > 0
}

/** Returns the lines of the first entries of a list, and one with the number of the others. */
function shortened<T>(list: T[], linesOf: (entry: T) => string[]): string[] {
  const lines = list.slice(0, SHOWN).flatMap(linesOf)
  return list.length > SHOWN ? [...lines, `and ${list.length - SHOWN} more`] : lines
}

function headOf({ zone, owner, obstacles, adopted }: Adoption): string {
  const state = obstacles.length > 0 ? 'cannot be adopted' : adopted ? 'adopted' : 'can be adopted'
  return `${zone}: ${state}${owner === undefined ? '' : ` for ${owner}`}`
}

function part(title: string, texts: string[]): string[] {
  return texts.map((text) => `  ${title} ${text}`)
}

function reasonsOf(outcome: Adoption): string[] {
  const reasons = shortened(outcome.obstacles, (text) => [text])
  return [headOf(outcome), ...part('because:   ', reasons)]
}

function effectsOf(outcome: Adoption): string[] {
  const { kept, otherNameServers, normalised, givenUp, obstacles } = outcome
  const foreign = otherNameServers.length === 0 ? [] : [`NS of other servers: ${otherNameServers.join(', ')}`]
  return [
    headOf(outcome),
    ...part('because:   ', obstacles),
    ...part('kept:      ', [...kept, ...foreign]),
    ...part('normalised:', normalised),
    ...part('given up:  ', givenUp),
  ]
}

/** Returns the totals of an adoption, or of its plan. */
function summaryOf(outcomes: Adoption[], isApplied: boolean): string[] {
  const refused = outcomes.filter(isRefused)
  const others = outcomes.filter((outcome) => !isRefused(outcome))
  const changed = others.filter(({ normalised }) => normalised.length > 0).length
  const shortened = others.filter(({ givenUp }) => givenUp.length > 0).length
  const foreign = others.filter(({ otherNameServers }) => otherNameServers.length > 0)
  return [
    `zones:                 ${outcomes.length}`,
    `${isApplied ? 'adopted:               ' : 'can be adopted:        '}${others.length}`,
    `  something normalised: ${changed}`,
    `  something given up:   ${shortened}`,
    `  NS of other servers:  ${foreign.length}${foreign.length === 0 ? '' : `, which stay: ${named(foreign)}`}`,
    `cannot be adopted:     ${refused.length}`,
  ]
}

/** Lists the foreign name servers of zones, those of most zones first. */
function named(zones: Adoption[]): string {
  const counts = new Map<string, number>()
  for (const host of zones.flatMap(({ otherNameServers }) => otherNameServers)) {
    counts.set(host, (counts.get(host) ?? 0) + 1)
  }
  const hosts = [...counts].sort(([, one], [, other]) => other - one)
  return shortened(hosts, ([host, count]) => [`${host} (${count})`]).join(', ')
}

/** Returns a line for each account that has, or would have, more domains than its limit. */
async function limitLines(system: System, outcomes: Adoption[]): Promise<string[]> {
  const coming = new Map<string, number>()
  for (const { owner, obstacles, adopted } of outcomes) {
    if (owner !== undefined && obstacles.length === 0) coming.set(owner, (coming.get(owner) ?? 0) + (adopted ? 0 : 1))
  }
  const lines: string[] = []
  for (const [email, count] of coming) {
    const { domains, limitDomains } = await accounts.withEmail(system, email)
    const all = domains + count
    if (limitDomains === null || all <= limitDomains) continue
    const verb = count === 0 ? 'has' : 'will have'
    lines.push(`${email} ${verb} ${all} domains, above its limit of ${limitDomains}: it can create no others`)
  }
  return lines
}
