import { withEmail } from '../service/accounts/accounts.ts'
import * as tokens from '../service/tokens/tokens.ts'
import type { Token } from '../service/tokens/tokens.ts'
import { command, shortTime, table, type Command } from './command.ts'

export const token: Record<string, Command> = {
  create: command({
    summary: 'make a token of an account; its secret is shown now and never again',
    args: ['EMAIL'],
    options: {
      name: { type: 'string', help: 'what it is for' },
      'create-domain': { type: 'boolean', help: 'it may create domains' },
      'delete-domain': { type: 'boolean', help: 'it may delete domains' },
      'manage-tokens': { type: 'boolean', help: 'it may manage tokens, and so do everything' },
    },
    async run(system, [email], options) {
      const { id } = await withEmail(system, email!)
      const settings = {
        name: options.name ?? '',
        permCreateDomain: options['create-domain'] === true,
        permDeleteDomain: options['delete-domain'] === true,
        permManageTokens: options['manage-tokens'] === true,
      }
      const { token, secret } = await tokens.create(system, { accountId: id }, { settings, problems: {} })
      return {
        lines: [`id      ${token.id}`, `secret  ${secret}`],
        json: { ...present(token), token: secret },
      }
    },
  }),
  list: command({
    summary: 'list the tokens that an account owns, and those that are bound to it',
    args: ['EMAIL'],
    async run(system, [email]) {
      const all = await tokens.listAll(system, (await withEmail(system, email!)).id)
      return { lines: rows(all), json: all.map(present) }
    },
  }),
  revoke: command({
    summary: 'delete a token, whoever owns it',
    args: ['ID'],
    async run(system, [id]) {
      await tokens.revoke(system, id!)
      return { lines: [`${id!}: revoked`], json: { id: id! } }
    },
  }),
  bind: command({
    summary: "let a token act for another account than its owner's, for good",
    args: ['ID', 'EMAIL'],
    async run(system, [id, email]) {
      const bound = await tokens.bind(system, id!, await withEmail(system, email!))
      return { lines: rows([bound]), json: present(bound) }
    },
  }),
}

function rows(all: Token[]): string[] {
  const cells = all.map((each) => [
    each.id,
    each.owner,
    each.userOverride ?? '',
    permissions(each).join(',') || (each.mfa === null ? '' : 'login'),
    shortTime(each.lastUsed),
    each.name,
  ])
  return table(['ID', 'OWNER', 'BOUND TO', 'MAY', 'LAST USED', 'NAME'], cells)
}

function permissions({ permCreateDomain, permDeleteDomain, permManageTokens }: Token): string[] {
  return [
    ...(permCreateDomain ? ['create'] : []),
    ...(permDeleteDomain ? ['delete'] : []),
    ...(permManageTokens ? ['manage'] : []),
  ]
}

function present(token: Token) {
  return {
    id: token.id,
    created: token.created,
    last_used: token.lastUsed,
    owner: token.owner,
    user_override: token.userOverride,
    mfa: token.mfa,
    name: token.name,
    perm_create_domain: token.permCreateDomain,
    perm_delete_domain: token.permDeleteDomain,
    perm_manage_tokens: token.permManageTokens,
  }
}
