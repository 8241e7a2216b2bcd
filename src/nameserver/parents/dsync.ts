import type { Reply } from '../wire/messages.ts'

/** The type CDS, and the scheme NOTIFY (RFC 9859 §§2, 6.2). */
const CDS = 59
const NOTIFY = 1

/** Where a parent zone wants NOTIFY: a name without final dot. */
export interface DsyncTarget {
  target: string
  port: number
}

/**
 * What became of a NOTIFY to a parent zone: the target has answered NOERROR or another code, or nothing; it has no address
 * that may be asked; the parent zone wants none; or the resolvers do not tell.
 */
export type Notification = 'acknowledged' | 'refused' | 'silent' | 'unreachable' | 'unwanted' | 'unknown'

/**
 * Returns the names at which a parent zone can say where it wants NOTIFY for a domain (RFC 9859 §4.1). The parent zone is
 * known, so the search needs no question that only finds it.
 */
export function lookupNames(domain: string, parent: string): string[] {
  const suffix = parent === '.' ? '' : `.${parent}`
  const child = domain.slice(0, domain.length - suffix.length)
  return [`${child}._dsync${suffix}`, `_dsync${suffix}`]
}

/** Reads where a parent zone wants NOTIFY about CDS; undefined: nowhere. */
export function readDsync({ answers }: Reply): DsyncTarget | undefined {
  const records = answers.filter(({ type }) => type === 'DSYNC').map(({ content }) => content.split(' '))
  // There is one of each type and scheme (§3).
  const found = records.find(([type, scheme]) => Number(type) === CDS && Number(scheme) === NOTIFY)
  if (found === undefined) return undefined
  const [, , port, target] = found
  return Number(port) === 0 ? undefined : { target: target!, port: Number(port) }
}
