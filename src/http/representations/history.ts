import { Invalid } from '../../errors.ts'
import type { Entry, Step, When } from '../../service/domains/history.ts'
import { readTime } from '../../time.ts'
import { presentChange } from './change.ts'
import { integer, readForm, ruledText } from './fields.ts'

/** An entry as in lists (contract §15.5). */
export function presentEntry(entry: Entry) {
  const { id, created, version, source, owner, tokenId, tokenName, requestId, count } = entry
  const token = tokenId === null ? null : { id: tokenId, name: tokenName }
  return { id, created, version, source, owner, token, request_id: requestId, count }
}

export function presentEntryWithChanges(entry: Entry & { changes: Step[] }) {
  return { ...presentEntry(entry), changes: entry.changes.map(presentChange) }
}

const shape = {
  at: ruledText({ trim: true }, (text) => (readTime(text) === undefined ? [WRONG_TIME] : [])),
  version: integer(),
}

const WRONG_TIME =
  'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm:ss[.uuuuuu][+HH:MM|-HH:MM|Z].'

/** Reads which state of a domain is wanted. @throws Invalid */
export function readWhen(body: unknown): When {
  const { at, version } = readForm(body, {}, shape)
  if ((at === undefined) === (version === undefined)) throw Invalid.object('Give either at or version.')
  return version === undefined ? { at: readTime(at!)! } : { version }
}
