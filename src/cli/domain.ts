import { TTL_MAX } from '../limits.ts'
import * as accounts from '../service/accounts/accounts.ts'
import * as domains from '../service/domains/domains.ts'
import { command, numberOr, shortTime, table, type Command } from './command.ts'

export const domain: Record<string, Command> = {
  list: command({
    summary: 'list all domains, or those of one account',
    args: ['[EMAIL]'],
    async run(system, [email]) {
      const owner = email === undefined ? undefined : await accounts.withEmail(system, email)
      const all = await domains.listAll(system, owner?.id)
      const cells = all.map(({ name, owner, minimumTtl, created }) => [name, owner, minimumTtl, shortTime(created)])
      return {
        lines: table(['NAME', 'ACCOUNT', 'MINIMUM TTL', 'CREATED'], cells),
        json: all.map(({ name, owner, minimumTtl, created }) => ({ name, owner, minimum_ttl: minimumTtl, created })),
      }
    },
  }),
  'set-minimum-ttl': command({
    summary: 'set the smallest TTL that may be written; RRsets that are there stay',
    args: ['NAME', 'SECONDS'],
    async run(system, [name, seconds]) {
      const minimumTtl = numberOr('', 'SECONDS', seconds!, 1, TTL_MAX)!
      await domains.setMinimumTtl(system, name!, minimumTtl)
      return { lines: [`${name!}: minimum TTL ${minimumTtl}`], json: { name: name!, minimum_ttl: minimumTtl } }
    },
  }),
}
