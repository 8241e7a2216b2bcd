import type { Command } from 'commander'
import { TTL_MAX } from '../limits.ts'
import * as accounts from '../service/accounts/accounts.ts'
import * as domains from '../service/domains/domains.ts'
import { unrestricted } from '../service/tokens/actor.ts'
import { numberOr, shortTime, table, type AddCommand } from './command.ts'

export function addDomain(program: Command, add: AddCommand): void {
  const group = program.command('domain').description('create and list domains, and set their minimum TTL')
  add(group, 'list [email]', 'list all domains, or those of one account', async (system, email?: string) => {
    const owner = email === undefined ? undefined : await accounts.withEmail(system, email)
    const all = await domains.listAll(system, owner?.id)
    const cells = all.map(({ name, owner, minimumTtl, created }) => [name, owner, minimumTtl, shortTime(created)])
    return {
      lines: table(['NAME', 'ACCOUNT', 'MINIMUM TTL', 'CREATED'], cells),
      json: all.map(({ name, owner, minimumTtl, created }) => ({ name, owner, minimum_ttl: minimumTtl, created })),
    }
  })
  add(
    group,
    'create <name>',
    'create a domain of an account; only so can local public suffixes and domains of the service be created',
    async (system, name: string, { account }: { account: string }) => {
      const { id, email } = await accounts.withEmail(system, account)
      await domains.create(system, unrestricted(id), { name, problems: {}, byOperator: true })
      return { lines: [`${name} of ${email}`], json: { name, owner: email } }
    },
    { nameserver: true },
  ).requiredOption('--account <email>', 'the account that owns it')
  add(
    group,
    'set-minimum-ttl <name>',
    'set the smallest TTL that may be written; existing RRsets stay',
    async (system, name: string, seconds: number) => {
      await domains.setMinimumTtl(system, name, seconds)
      return { lines: [`${name}: minimum TTL ${seconds}`], json: { name, minimum_ttl: seconds } }
    },
  ).argument('<seconds>', '', numberOr(undefined, 1, TTL_MAX))
}
