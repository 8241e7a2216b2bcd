import type { Command } from 'commander'
import { withEmail } from '../../service/accounts/accounts.ts'
import { operatorFor } from '../../service/actor.ts'
import type { Token } from '../../service/tokens/tokens.ts'
import * as tokens from '../../service/tokens/tokens.ts'
import { type AddCommand, shortTime, table } from '../command.ts'

interface CreateOptions {
  name?: string
  createDomain?: boolean
  deleteDomain?: boolean
  manageTokens?: boolean
}

export function addToken(program: Command, add: AddCommand): void {
  const group = program.command('token').description('create, list, revoke and bind tokens')
  add(group, 'create <email>', {}, async (system, email: string, options: CreateOptions) => {
    const { id } = await withEmail(system, email)
    const settings = {
      name: options.name ?? '',
      permCreateDomain: options.createDomain === true,
      permDeleteDomain: options.deleteDomain === true,
      permManageTokens: options.manageTokens === true,
    }
    const { token, secret } = await tokens.create({ system, actor: operatorFor(id) }, { settings, problems: {} })
    return { lines: [`id      ${token.id}`, `secret  ${secret}`], json: { ...presentToken(token), token: secret } }
  })
    .description('create a token and print its secret, only this once')
    .option('--name <text>', 'its purpose')
    .option('--create-domain', 'let it create domains')
    .option('--delete-domain', 'let it delete domains')
    .option('--manage-tokens', 'let it manage tokens, and so gain every permission')
  add(group, 'list <email>', {}, async (system, email: string) => {
    const all = await tokens.listAll(system, (await withEmail(system, email)).id)
    return { lines: rows(all), json: all.map(presentToken) }
  }).description('list the tokens that the account owns, and those bound to it')
  add(group, 'revoke <id>', {}, async (system, id: string) => {
    await tokens.revoke(system, id)
    return { lines: [`${id}: revoked`], json: { id } }
  }).description('delete a token of any account')
  add(group, 'bind <id> <email>', {}, async (system, id: string, email: string) => {
    const bound = await tokens.bind(system, id, await withEmail(system, email))
    return { lines: rows([bound]), json: presentToken(bound) }
  }).description("let a token act for an account other than its owner's, permanently")
}

function rows(all: Token[]): string[] {
  return table(...tokenCells(all))
}

/** Returns the head and the cells of a table of tokens. */
export function tokenCells(all: Token[]): [head: string[], cells: string[][]] {
  const cells = all.map((each) => {
    const { permCreateDomain, permDeleteDomain, permManageTokens } = each
    const permissions = [permCreateDomain && 'create', permDeleteDomain && 'delete', permManageTokens && 'manage']
    const may = permissions.filter((one) => one !== false).join(',') || (each.mfa === null ? '' : 'login')
    return [each.id, each.owner, each.userOverride ?? '', may, shortTime(each.lastUsed), each.name]
  })
  return [['ID', 'OWNER', 'BOUND TO', 'MAY', 'LAST USED', 'NAME'], cells]
}

export function presentToken(token: Token) {
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
