import type { Command } from 'commander'
import type { Account, Limits } from '../../service/accounts/accounts.ts'
import * as accounts from '../../service/accounts/accounts.ts'
import { handOver } from '../../service/accounts/hand-over.ts'
import { removeAll } from '../../service/accounts/second-factor.ts'
import { lookAtAccount } from '../../service/operation/looks.ts'
import { unlink } from '../../service/sign-on/unlinking.ts'
import { type AddCommand, numberOr, type Outcome, shortTime, table } from '../command.ts'
import { stateOf } from '../domain/looks.ts'
import { presentToken, tokenCells } from './token.ts'

export function addAccount(program: Command, add: AddCommand): void {
  const group = program.command('account').description('create, list, show, limit, disable and delete accounts')
  withLimits(
    add(group, 'create <email>', {}, async (system, email: string, options: LimitOptions) =>
      shown(await accounts.create(system, email, limits(options))),
    ),
  ).description('create an active account; nobody can log in until a password is set')
  add(group, 'list', {}, async (system) => {
    const all = await accounts.list(system)
    return { lines: rows(all), json: all.map(present) }
  }).description('list all accounts')
  add(group, 'show <email>', {}, async (system, email: string) => {
    const { account, domains, tokens, identities, factors, passkeys, refusals } = await lookAtAccount(system, email)
    const logins = tokens.filter(({ mfa, owner }) => mfa !== null && owner === account.email)
    const others = tokens.filter((token) => !logins.includes(token))
    const networks = account.knownNetworks
    return {
      lines: [
        ...rows([account]),
        `id: ${account.id}`,
        `signs in with: ${waysIn(account, { identities: identities.length, passkeys, factors })}`,
        `networks of the last logins: ${networks.length === 0 ? 'none' : networks.join(', ')}`,
        ...section(
          'LOGGED IN',
          ['SINCE', 'LAST USED', 'ID'],
          logins.map(({ id, created, lastUsed }) => [shortTime(created), shortTime(lastUsed), id]),
        ),
        ...section(
          'SINGLE SIGN-ON',
          ['ISSUER', 'SUB', 'SINCE', 'LAST USED'],
          identities.map(({ issuer, sub, created, lastUsed }) => [
            issuer,
            sub,
            shortTime(created),
            shortTime(lastUsed),
          ]),
        ),
        ...section('TOKENS', ...tokenCells(others)),
        ...section(
          'DOMAINS',
          ['NAME', 'STATE', 'CREATED'],
          domains.map((domain) => [domain.name, stateOf(domain), shortTime(domain.created)]),
        ),
        ...section(
          'REFUSED WITH 429',
          ['SCOPE', 'SECONDS', 'UNTIL', 'CALLER', 'DOMAIN'],
          refusals.map(({ scope, length, ends, caller, domain }) => [
            ...[scope, length, shortTime(ends)],
            ...[caller === account.id ? 'all API tokens' : caller, domain ?? ''],
          ]),
        ),
      ],
      json: {
        ...present(account),
        password: account.passwordHash !== null,
        second_factors: factors,
        passkeys,
        identities: identities.map(({ issuer, sub, created, lastUsed }) => ({
          issuer,
          sub,
          created,
          last_used: lastUsed,
        })),
        known_networks: networks,
        logins: logins.map(({ id, created, lastUsed }) => ({ id, created, last_used: lastUsed })),
        tokens: others.map(presentToken),
        domains_owned: domains.map((domain) => ({
          name: domain.name,
          state: stateOf(domain),
          created: domain.created,
        })),
        refused: refusals,
      },
    }
  }).description(
    'show how its owner signs in, its domains, its tokens, its last logins, and the requests that rates refuse now',
  )
  add(group, 'disable <email>', {}, async (system, email: string) =>
    shown(await accounts.setState(system, email, 'disabled')),
  ).description('block its tokens and logins; DNS still serves its domains')
  add(group, 'enable <email>', {}, async (system, email: string) =>
    shown(await accounts.setState(system, email, 'active')),
  ).description('unblock its tokens and logins')
  add(group, 'remove-factors <email>', {}, async (system, email: string) => {
    const { factors, logins } = await removeAll(system, email)
    return {
      lines: [`${email}: second factors deleted: ${factors.length}, logins ended: ${logins.length}`],
      json: { account: email, factors, logins },
    }
  }).description('delete all its second factors, if its owner has lost them, and end its logins')
  add(group, 'unlink <email>', {}, async (system, email: string) => {
    const { identities, logins } = await unlink(system, email)
    return {
      lines: [`${email}: links with single sign-on ended: ${identities}, logins ended: ${logins.length}`],
      json: { account: email, identities, logins },
    }
  }).description('end its links with identities of single sign-on, and its logins')
  add(group, 'hand-over <email> <new-email>', {}, async (system, email: string, to: string) =>
    shown(await handOver(system, email, to)),
  ).description('give it to another person: address, password, second factors and logins change; a mail tells both')
  withLimits(
    add(group, 'set-limit <email>', {}, async (system, email: string, options: LimitOptions) =>
      shown(await accounts.setLimits(system, email, limits(options))),
    ),
  ).description('set the limits that are given; the others stay')
  add(group, 'delete <email>', { nameserver: true }, async (system, email: string, options: { withDomains?: true }) => {
    const domains = await accounts.remove(system, email, options.withDomains === true)
    return { lines: [...domains, email].map((name) => `${name}: deleted`), json: { account: email, domains } }
  })
    .description('delete it and its tokens')
    .option('--with-domains', 'also delete its domains and their zones')
}

/** The ways in which its owner can sign in now, in words. */
function waysIn(
  { passwordHash }: Account,
  { identities, passkeys, factors }: { identities: number; passkeys: number; factors: number },
): string {
  const ways = [
    ...(passwordHash === null ? [] : ['password']),
    ...(identities === 0 ? [] : ['single sign-on']),
    ...(passkeys === 0 ? [] : ['passkey']),
  ]
  if (ways.length === 0) return 'nothing yet'
  return ways.join(', ') + (factors === 0 ? '' : `; second factors: ${factors}`)
}

/** A table with a title, or nothing. */
function section(title: string, head: string[], cells: (string | number)[][]): string[] {
  return cells.length === 0 ? [] : ['', title, ...table(head, cells)]
}

interface LimitOptions {
  domains?: number | 'none'
  dailyRate?: number | 'default'
  historyOctets?: number | 'default'
}

function withLimits(command: Command): Command {
  return command
    .option('--domains <number>', 'how many domains it can have, or none for no limit', numberOr('none'))
    .option('--daily-rate <number>', 'how many requests it can send in a day, or default', numberOr('default'))
    .option(
      '--history-octets <number>',
      'how large its histories can be, or default',
      numberOr('default', 0, 2 ** 53 - 1),
    )
}

function limits({ domains, dailyRate, historyOctets }: LimitOptions): Limits {
  return {
    ...(domains !== undefined && { limitDomains: domains === 'none' ? null : domains }),
    ...(dailyRate !== undefined && { dailyRate: dailyRate === 'default' ? null : dailyRate }),
    ...(historyOctets !== undefined && { limitHistoryOctets: historyOctets === 'default' ? null : historyOctets }),
  }
}

function shown(one: Account): Outcome {
  return { lines: rows([one]), json: present(one) }
}

function rows(all: Account[]): string[] {
  const cells = all.map(({ email, state, domains, limitDomains, dailyRate, limitHistoryOctets, created }) => [
    email,
    state,
    `${domains}/${limitDomains ?? 'unlimited'}${domains > (limitDomains ?? Infinity) ? ' (above the limit)' : ''}`,
    dailyRate ?? 'default',
    limitHistoryOctets ?? 'default',
    shortTime(created),
  ])
  return table(['EMAIL', 'STATE', 'DOMAINS', 'DAILY RATE', 'HISTORY OCTETS', 'CREATED'], cells)
}

function present({ id, email, state, created, domains, limitDomains, dailyRate, limitHistoryOctets }: Account) {
  const limits = { limit_domains: limitDomains, daily_rate: dailyRate, limit_history_octets: limitHistoryOctets }
  return { id, email, state, created, domains, ...limits }
}
