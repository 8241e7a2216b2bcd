import { Conflict } from '../../errors.ts'

/** Returns the error for a write to a suspended domain, or to its names (contract §2.2). */
export function suspension(name: string): Conflict {
  return new Conflict(
    `${name} is suspended by the operator of this service: it is not served and cannot be changed. ` +
      'Please contact the operator.',
  )
}

/**
 * Requires that changes do not bring back the names of suspended domains below their zone (contract §7.9).
 * @param name that of their domain
 * @param hidden those of the suspended ones
 * @throws Conflict
 */
export function refuseForSuspended(
  name: string,
  hidden: readonly string[],
  changes: readonly { subname: string; type: string; after: object | undefined }[],
): void {
  for (const suspended of hidden) {
    const subname = suspended.slice(0, -name.length - 1)
    if (changes.some((change) => change.after !== undefined && answersFor(change, subname))) throw suspension(suspended)
  }
}

/** Reports whether an RRset answers for names at or below `hidden`, or redirects or delegates them. */
function answersFor({ subname, type }: { subname: string; type: string }, hidden: string): boolean {
  if (isWithin(subname, hidden)) return true
  if (subname === '*' || subname.startsWith('*.')) return isWithin(hidden, subname.slice(2))
  return (type === 'DNAME' || (type === 'NS' && subname !== '')) && isWithin(hidden, subname)
}

/** Reports whether a subname is another one, or below it. All are below the empty one. */
function isWithin(subname: string, other: string): boolean {
  return other === '' || subname === other || subname.endsWith(`.${other}`)
}
