import * as accounts from '../service/accounts/accounts.ts'
import type { Account, Limits } from '../service/accounts/accounts.ts'
import { command, numberOr, shortTime, table, type Command, type Outcome } from './command.ts'

const LIMITS = {
  domains: { type: 'string', help: 'how many domains it may have; none: as many as it likes' },
  'daily-rate': { type: 'string', help: 'how many requests it may make in a day; default: as many as others' },
} as const

export const account: Record<string, Command> = {
  create: command({
    summary: 'make an active account, which can log in once a password is set',
    args: ['EMAIL'],
    options: LIMITS,
    run: async (system, [email], options) => shown(await accounts.create(system, email!, limits(options))),
  }),
  list: command({
    summary: 'list all accounts',
    run: async (system) => listed(await accounts.list(system)),
  }),
  disable: command({
    summary: 'keep out its tokens and logins; its domains are served all the same',
    args: ['EMAIL'],
    run: async (system, [email]) => shown(await accounts.setState(system, email!, 'disabled')),
  }),
  enable: command({
    summary: 'let its tokens and logins in again',
    args: ['EMAIL'],
    run: async (system, [email]) => shown(await accounts.setState(system, email!, 'active')),
  }),
  'set-limit': command({
    summary: 'set how much it may have and do; what is not named stays',
    args: ['EMAIL'],
    options: LIMITS,
    run: async (system, [email], options) => shown(await accounts.setLimits(system, email!, limits(options))),
  }),
  delete: command({
    summary: 'delete it and its tokens',
    args: ['EMAIL'],
    options: { 'with-domains': { type: 'boolean', help: 'delete its domains and their zones, too' } },
    nameserver: true,
    async run(system, [email], options) {
      const domains = await accounts.remove(system, email!, options['with-domains'] === true)
      const lines = [...domains.map((name) => `${name}: deleted`), `${email!}: deleted`]
      return { lines, json: { account: email!, domains } }
    },
  }),
}

function limits(options: { [Name in keyof typeof LIMITS]?: string }): Limits {
  const { domains, 'daily-rate': rate } = options
  return {
    ...(domains !== undefined && { limitDomains: numberOr('none', '--domains', domains) }),
    ...(rate !== undefined && { dailyRate: numberOr('default', '--daily-rate', rate) }),
  }
}

function shown(one: Account): Outcome {
  return { lines: rows([one]), json: present(one) }
}

function listed(all: Account[]): Outcome {
  return { lines: rows(all), json: all.map(present) }
}

function rows(all: Account[]): string[] {
  const cells = all.map(({ email, state, domains, limitDomains, dailyRate, created }) => [
    email,
    state,
    `${domains}/${limitDomains ?? 'unlimited'}`,
    dailyRate ?? 'default',
    shortTime(created),
  ])
  return table(['EMAIL', 'STATE', 'DOMAINS', 'DAILY RATE', 'CREATED'], cells)
}

function present({ id, email, state, created, domains, limitDomains, dailyRate }: Account) {
  return { id, email, state, created, domains, limit_domains: limitDomains, daily_rate: dailyRate }
}
