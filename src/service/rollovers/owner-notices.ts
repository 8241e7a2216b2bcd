import { printable } from '../../errors.ts'
import { type Db, transaction } from '../../store/database.ts'
import type { Event, Notice } from '../../store/domains/rollover-notices.ts'
import * as store from '../../store/domains/rollover-notices.ts'
import type { RolloverAction } from '../../store/zone/history.ts'
import type { System } from '../../system.ts'
import { later } from '../../time.ts'
import { compose, type MailText, sendToAccount } from '../mails/mails.ts'

// Owners are told what happens to their keys, and who does it. Beyond the rates of mails, notices wait, and then come in
// one mail. What a mail does not tell comes with the next one, unless its domain is gone: whoever causes many hides none.

/** The accounts that get a mail at a look, and the notices of a domain, and of all, in a mail. */
const ACCOUNTS_AT_ONCE = 20
const MOST = { each: 5, all: 200 }

/** Seconds after which notices that were beyond the rates are tried again. */
const HELD_PAUSE = 600

const EVENTS: Record<Event, string> = {
  begin: 'the replacement of its keys was begun',
  return: 'its former keys were called back',
  force: 'its new keys were confirmed by force, although the parent zone may have the DS record of the former ones',
  cancel: 'the replacement of its keys was cancelled',
  end: 'the replacement of its keys has ended',
}

/** Returns what the owner is told of a step of a rollover; undefined: nothing. */
export function eventOf({ action, phase }: RolloverAction): Event | undefined {
  if (action === 'advance') return phase === null ? 'end' : undefined
  return action === 'confirm' ? undefined : action
}

/** Sends the mails that are due. */
export async function tellOwners(system: System): Promise<void> {
  for (const accountId of await store.due(system.db, system.now(), ACCOUNTS_AT_ONCE)) {
    await transaction(system.db, (trx) => tellOwner(system, trx, accountId))
  }
}

async function tellOwner(system: System, trx: Db, accountId: string): Promise<void> {
  const { notices, count, ids } = await store.ofAccount(trx, accountId, MOST)
  if (notices.length === 0) return
  const text = textOf(notices, count, system.config.historyDays)
  if (await sendToAccount(system, trx, accountId, 'rollovers', text)) await store.remove(trx, ids)
  else await store.postpone(trx, accountId, later(system.now(), HELD_PAUSE))
}

function textOf(notices: Notice[], count: number, days: number): MailText {
  const names = new Set(notices.map(({ name }) => name))
  const left = count - notices.length
  const lines = notices.map((notice) => `- ${lineOf(notice)}`)
  if (left > 0) lines.push(`- and ${left} others: see the history of your domains, also of deleted ones`)
  return compose(
    `The keys of ${names.size === 1 ? notices[0]!.name : 'your domains'}`,
    `This happened to the keys with which your domains are signed:\n${lines.join('\n')}`,
    'If you do not know why, look at your API tokens, and delete those that you do not know.',
    `You can cancel a replacement while it waits for the parent zone. Afterwards you can bring the former keys back, for ${days} days.`,
  )
}

function lineOf({ name, happened, event, token, email }: Notice): string {
  const owner = email === null ? '' : ` of ${email}`
  // A name may have line breaks, as another person may have chosen it.
  const by =
    token === null ? 'by the operator of this service' : `with the token ${printable(JSON.stringify(token))}${owner}`
  return `${happened.slice(0, 19).replace('T', ' ')} UTC, ${name}: ${EVENTS[event]}${event === 'end' ? '' : `, ${by}`}`
}
