import { type Command, Option } from 'commander'
import { Conflict, Invalid, NameserverFailure, NotFound, reasonOf, Unavailable } from '../errors.ts'
import type { Access, Writer } from '../service/actor.ts'
import { confirm } from '../service/rollovers/confirming.ts'
import { announceRemoval } from '../service/rollovers/ds-removal.ts'
import { emptyQueue, enqueueAll } from '../service/rollovers/queue.ts'
import type { ShownRollover, Wish } from '../service/rollovers/rollovers.ts'
import * as rollovers from '../service/rollovers/rollovers.ts'
import type { System } from '../system.ts'
import { type AddCommand, numberOr, type Outcome, requireOneOf, shortTime, table, WRITES } from './command.ts'

export function addDnssec(program: Command, add: AddCommand): void {
  const group = program.command('dnssec').description('replace the keys of domains, and ask parents to remove the DS')
  add(group, 'roll [names...]', WRITES, async (system, names: string[], options: RollOptions) => {
    const { algorithm, emergency, all, atMost } = options
    requireOneOf(names, all)
    if (all && system.message !== undefined)
      throw Invalid.object('The queue keeps no messages: omit --message with --all.')
    const wish = { algorithm, emergency, isReturn: options.return }
    const { lines, ...outcome } = all
      ? counted('queued', await enqueueAll(system, wish, atMost))
      : await rollEach(system, names, (access) => rollovers.begin(access, wish))
    return { ...outcome, lines: emergency ? [...lines, EMERGENCY] : lines }
  })
    .description('replace the keys of domains by new ones; the service does the rest')
    .option('--all', 'queue a rollover of every domain that has none', false)
    .option('--at-most <number>', 'with --all: how many are under way at a time', numberOr(undefined, 1), 100)
    .addOption(
      new Option('--algorithm <name>', `default: ${rollovers.DEFAULT_ALGORITHM}`).choices(rollovers.KEY_ALGORITHMS),
    )
    .addOption(
      new Option('--return', 'bring the former keys back, instead of new ones')
        .conflicts(['algorithm', 'all'])
        .default(false),
    )
    .option('--emergency', 'do not wait for caches: resolvers that have the former keys or DS reject the domain', false)
  add(group, 'cancel [names...]', WRITES, async (system, names: string[], { all }: { all: boolean }) => {
    requireOneOf(names, all)
    return all ? counted('removed', await emptyQueue(system)) : rollEach(system, names, rollovers.cancel)
  })
    .description('go back to the former keys')
    .option('--all', 'empty the queue; rollovers that have begun go on', false)
  add(group, 'confirm <names...>', { message: true }, async (system, names: string[], options: { force: boolean }) =>
    rollEach(system, names, (access) => confirm(access, options)),
  )
    .description(
      'say that the parent zone, which is asked first, has the new DS, and no longer the former; or that other signers publish the new key',
    )
    .option('--force', 'do not ask the parent zone: resolvers reject a domain while it has the former DS', false)
  add(group, 'status', {}, async (system) => {
    const all = await rollovers.list(system)
    return {
      lines: table(HEAD, all.map(rowOf)),
      json: Object.fromEntries(all.map(([name, rollover]) => [name, jsonOf(rollover)])),
    }
  }).description('list the domains whose keys are being replaced')
  add(group, 'announce-removal <names...>', { nameserver: true }, announce)
    .description('ask the parent zones to remove the DS of domains, by CDS and CDNSKEY')
    .option('--undo', 'take that back', false)
}

type RollOptions = Omit<Wish, 'isReturn'> & { return: boolean; all: boolean; atMost: number }

const EMERGENCY =
  'These rollovers do not wait for caches. Validating resolvers reject a domain until they have forgotten its former ' +
  'keys, for up to an hour, and its former DS, often for a day.'

const HEAD = ['NAME', 'PHASE', 'SINCE', 'WAITS FOR']

/** @param what became of so many rollovers */
function counted(what: string, number: number): Outcome {
  return { lines: [`${what}: ${number}`], json: { [what]: number } }
}

function rowOf([name, rollover]: [string, ShownRollover | undefined]): string[] {
  return rollover === undefined
    ? [name, 'none', '', '']
    : [name, rollover.phase, shortTime(rollover.since), rollover.waitsFor]
}

/** Returns a rollover as the API shows it. */
function jsonOf({ phase, since, waitsFor, emergency, canCancel, addDs, removeDs }: ShownRollover) {
  return { phase, since, waits_for: waitsFor, emergency, can_cancel: canCancel, add_ds: addDs, remove_ds: removeDs }
}

/** Works on each domain, and shows its rollover afterwards, or the reason why it stays as it is. */
async function rollEach(
  system: System,
  names: string[],
  work: (access: Access<Writer>) => Promise<ShownRollover | undefined>,
): Promise<Outcome> {
  const shown = (rollover: ShownRollover | undefined) => (rollover === undefined ? null : jsonOf(rollover))
  return eachOf(system, names, work, (done) => (done.length === 0 ? [] : table(HEAD, done.map(rowOf))), shown)
}

async function announce(system: System, names: string[], { undo }: { undo: boolean }): Promise<Outcome> {
  const state = undo ? 'its DS shall stay' : 'its DS shall be removed'
  const work = (access: Access<Writer>) => announceRemoval(access, { isWanted: !undo })
  const linesOf = (done: [string, unknown][]) => done.map(([name]) => `${name}: ${state}`)
  return eachOf(system, names, work, linesOf, () => ({ removal: !undo }))
}

/**
 * Works on each domain; a failure does not reach the others.
 * @param linesOf returns the lines about those that did not fail
 * @param jsonOf returns the JSON of one of them
 */
async function eachOf<T>(
  system: System,
  names: string[],
  work: (access: Access<Writer>) => Promise<T>,
  linesOf: (done: [string, T][]) => string[],
  jsonOf: (result: T) => unknown,
): Promise<Outcome> {
  const done: [string, T][] = []
  const failed: [string, string][] = []
  for (const name of names) {
    try {
      done.push([name, await work(await rollovers.accessOfOperator(system, name))])
    } catch (error) {
      const isExpected = [Conflict, NotFound, Unavailable, NameserverFailure].some((kind) => error instanceof kind)
      if (!isExpected) throw error
      failed.push([name, reasonOf(error)])
    }
  }
  return {
    lines: [...linesOf(done), ...failed.map(([name, problem]) => `${name}: ${problem}`)],
    json: Object.fromEntries([
      ...done.map(([name, result]) => [name, jsonOf(result)]),
      ...failed.map(([name, problem]) => [name, { problem }]),
    ]) as unknown,
    succeeded: failed.length === 0,
  }
}
