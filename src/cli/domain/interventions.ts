import type { Command } from 'commander'
import { Conflict } from '../../errors.ts'
import * as accounts from '../../service/accounts/accounts.ts'
import { operatorFor } from '../../service/actor.ts'
import * as domains from '../../service/domains/domains.ts'
import { move } from '../../service/operation/moving.ts'
import { resumeServing, suspend } from '../../service/operation/suspension.ts'
import { NO_CONDITIONS } from '../../service/rrsets/conditions.ts'
import { type AddCommand, WRITES } from '../command.ts'

/** Adds the commands by which the operator takes a domain from DNS, or from its account. */
export function addInterventions(group: Command, add: AddCommand): void {
  add(group, 'suspend <name>', { nameserver: true }, async (system, name: string) => {
    const around = await suspend(system, name)
    const hint = 'its account also has domains above or below it, which are served:'
    return {
      lines: [`${name}: suspended`, ...(around.length === 0 ? [] : [`${name}: ${hint} ${around.join(', ')}`])],
      json: { name, suspended: true, served_around: around },
    }
  }).description('stop serving a domain, and let nobody change it; its owner gets a mail')
  add(group, 'resume-serving <name>', { nameserver: true }, async (system, name: string) => {
    await resumeServing(system, name)
    return { lines: [`${name}: served again`], json: { name, suspended: false } }
  }).description('serve a suspended domain again, as it was; its owner gets a mail')
  add(group, 'move <names...>', { nameserver: true }, async (system, names: string[], { to }: { to: string }) => {
    const account = await accounts.withEmail(system, to)
    await move(system, names, account)
    return { lines: names.map((name) => `${name}: moved to ${account.email}`), json: { names, owner: account.email } }
  })
    .description('give domains to another account, all or none; both accounts get mails')
    .requiredOption('--to <email>', 'the account that gets them')
  add(group, 'delete <name>', WRITES, async (system, name: string, { confirm }: { confirm: string }) => {
    if (confirm !== name) throw new Conflict(`--confirm is not ${name}; nothing was deleted.`)
    const { ownerId } = await domains.findNamed(system, name)
    await domains.remove({ system, actor: operatorFor(ownerId) }, name, NO_CONDITIONS)
    return { lines: [`${name}: deleted`], json: { name } }
  })
    .description('delete a domain and its zone, as its owner can; it can be restored')
    .requiredOption('--confirm <name>', 'its name again')
}
