import type { Command } from 'commander'
import { NotFound } from '../errors.ts'
import * as adoption from '../service/adoption/adoption.ts'
import type { Adoption, AdoptionRequest } from '../service/adoption/adoption.ts'
import { tellProgress, type AddCommand } from './command.ts'

type Options = Omit<AdoptionRequest, 'ownerOf'> & { all: boolean; account?: string; byAccountField: boolean }

export function addAdopt(program: Command, add: AddCommand): void {
  add(program, 'adopt [zones...]', { nameserver: true }, async (system, zones: string[], options: Options) => {
    const names = options.all ? (await adoption.strangers(system)).map(({ name }) => name) : zones
    const request = { ...options, ownerOf: owners(options) }
    // A line for each zone would hide the progress.
    system.log.level = 'error'
    const outcomes = await adoption.adoptAll(system, names, request, tellProgress)
    return {
      lines: outcomes.flatMap(linesOf),
      json: outcomes,
      succeeded: outcomes.every(({ obstacles }) => obstacles.length === 0),
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

function linesOf({ zone, owner, kept, normalised, givenUp, obstacles, adopted }: Adoption): string[] {
  const state = obstacles.length > 0 ? 'cannot be adopted' : adopted ? 'adopted' : 'can be adopted'
  const part = (title: string, texts: string[]) => texts.map((text) => `  ${title} ${text}`)
  return [
    `${zone}: ${state}${owner === undefined ? '' : ` for ${owner}`}`,
    ...part('because:   ', obstacles),
    ...part('kept:      ', kept),
    ...part('normalised:', normalised),
    ...part('given up:  ', givenUp),
  ]
}
