import { Argument, type Command, Option } from 'commander'
import { TTL_MAX } from '../../limits.ts'
import * as accounts from '../../service/accounts/accounts.ts'
import { operatorFor } from '../../service/actor.ts'
import type { Difference } from '../../service/adoption/pausing.ts'
import * as pausing from '../../service/adoption/pausing.ts'
import { bringBack, create } from '../../service/domains/creation.ts'
import * as domains from '../../service/domains/domains.ts'
import { type AddCommand, numberOr, shortTime, table, timestamp, WRITES } from '../command.ts'
import { addInterventions } from './interventions.ts'
import { addLooks, stateOf } from './looks.ts'

export function addDomain(program: Command, add: AddCommand): void {
  const group = program
    .command('domain')
    .description('create, look at, pause, suspend, move and delete domains, set their minimum TTL and their denial')
  add(group, 'list [email]', {}, async (system, email: string | undefined, { search }: { search?: string }) => {
    const owner = email === undefined ? undefined : await accounts.withEmail(system, email)
    const all = await domains.listAll(system, owner?.id, search)
    const cells = all.map((one) => [one.name, one.owner, stateOf(one), one.minimumTtl, shortTime(one.created)])
    return {
      lines: table(['NAME', 'ACCOUNT', 'STATE', 'MINIMUM TTL', 'CREATED'], cells),
      json: all.map((one) => {
        const { name, owner, minimumTtl, created } = one
        return { name, owner, state: stateOf(one), minimum_ttl: minimumTtl, created }
      }),
    }
  })
    .description('list all domains, or those of one account')
    .option('--search <text>', 'only those whose names contain it')
  addLooks(group, add)
  add(group, 'create <name>', WRITES, async (system, name: string, { account }: { account: string }) => {
    const { id, email } = await accounts.withEmail(system, account)
    await create(system, operatorFor(id), { name, problems: {} })
    return { lines: [`${name} of ${email}`], json: { name, owner: email } }
  })
    .description(
      'create a domain for an account; only this can create local public suffixes and domains of the service',
    )
    .requiredOption('--account <email>', 'the account that owns it')
  add(group, 'restore <name>', WRITES, async (system, name: string, { at }: { at?: string }) => {
    await bringBack(system, name, at)
    return { lines: [`${name} is restored`], json: { name } }
  })
    .description('restore a deleted domain; or, with --at, an earlier state of a domain')
    .option('--at <time>', 'such as 2026-01-31T12:00:00Z', timestamp)
  add(group, 'set-minimum-ttl <name>', {}, async (system, name: string, seconds: number) => {
    await domains.setMinimumTtl(system, name, seconds)
    return { lines: [`${name}: minimum TTL ${seconds}`], json: { name, minimum_ttl: seconds } }
  })
    .description('set the smallest TTL that writes can use; existing RRsets stay')
    .argument('<seconds>', '', numberOr(undefined, 1, TTL_MAX))
  add(group, 'set-denial <name>', { nameserver: true }, async (system, name: string, denial: Denial) => {
    await domains.setDenial(system, name, denial)
    return { lines: [`${name}: ${denial}`], json: { name, denial } }
  })
    .description('set the denial of existence in the zone: NSEC or NSEC3')
    .addArgument(new Argument('<denial>').choices(Object.keys(domains.DENIALS)))
  add(group, 'pause <name>', { nameserver: true }, async (system, name: string) => {
    await pausing.pause(system, name)
    return { lines: [`${name}: paused`], json: { name, paused: true } }
  }).description('reject all writes and leave the zone alone, so that you can work on it at PowerDNS')
  add(group, 'resume <name>', WRITES, async (system, name: string, { ours, theirs }: Sides) => {
    const side = ours === true ? 'ours' : theirs === true ? 'theirs' : undefined
    const differences = await pausing.resume(system, name, side)
    const isPaused = differences.length > 0 && side === undefined
    const left = isPaused ? ['still paused: choose --ours (the database) or --theirs (PowerDNS)'] : ['resumed']
    return {
      lines: [...differences.flatMap(linesOf), ...left.map((text) => `${name}: ${text}`)],
      json: { name, paused: isPaused, differences },
      succeeded: !isPaused,
    }
  })
    .description('end the pause; if the zone at PowerDNS differs, show the differences, unless you choose a side')
    .addOption(new Option('--ours', 'the contents of the database win').conflicts('theirs'))
    .option('--theirs', 'the contents at PowerDNS win')
  addInterventions(group, add)
}

type Denial = keyof typeof domains.DENIALS
type Sides = { ours?: boolean; theirs?: boolean }

/** Describes an RRset in the database and at PowerDNS, in lines. */
function linesOf({ name, type, ours, theirs }: Difference): string[] {
  const side = (title: string, state: Difference['ours']) =>
    `  ${title} ${state === undefined ? 'none' : [state.ttl ?? [], state.records.join(', ')].flat().join(' ')}`
  return [`${name} ${type}`, side('ours:  ', ours), side('theirs:', theirs)]
}
