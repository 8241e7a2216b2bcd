import { type Command, Option } from 'commander'
import * as members from '../../service/members/member-operations.ts'
import { type Member, type Role, ROLES } from '../../service/members/members.ts'
import { type AddCommand, shortTime, table } from '../command.ts'

export function addMember(program: Command, add: AddCommand): void {
  const group = program.command('member').description('list, add and remove members of an account')
  add(group, 'list <account>', {}, async (system, account: string) => {
    const all = await members.list(system, account)
    return { lines: rows(all), json: all.map(present) }
  }).description('list the members of an account, and its invitations')
  add(group, 'add <account> <email>', {}, async (system, account: string, email: string, options: AddOptions) => {
    const domains = options.domain ?? null
    const made = await members.add(system, email, account, { role: options.role, domains })
    return { lines: rows([made]), json: present(made) }
  })
    .description('let the account <email> act for <account>, at once; a mail tells both')
    .addOption(new Option('--role <role>', 'what the member may do').choices(ROLES).default('viewer'))
    .option('--domain <name...>', 'the only domains that the member sees')
  add(
    group,
    'remove <account> <email>',
    {},
    async (system, account: string, email: string, options: { keepTokens?: true }) => {
      const gone = await members.remove(system, email, account, options.keepTokens === true ? 'keep' : 'end')
      return { lines: [`${gone.email}: no member of ${account}`], json: present(gone) }
    },
  )
    .description('end a membership or an invitation; a mail tells both')
    .option('--keep-tokens', 'keep the API tokens that the member has made for the account')
}

interface AddOptions {
  role: Role
  domain?: string[]
}

function rows(all: Member[]): string[] {
  const cells = all.map(({ email, role, domains, personId, source, lastActive, id }) => [
    email,
    role,
    domains === null ? 'all' : domains.join(','),
    personId === null ? 'invited' : 'active',
    source,
    shortTime(lastActive),
    id,
  ])
  return table(['EMAIL', 'ROLE', 'DOMAINS', 'STATE', 'BY', 'LAST ACTIVE', 'ID'], cells)
}

function present({ id, email, role, domains, personId, source, created, accepted, lastActive }: Member) {
  const state = personId === null ? 'invited' : 'active'
  return { id, email, role, domains, state, invited: created, accepted, last_active: lastActive, source }
}
