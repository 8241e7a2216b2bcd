import { Refused, Unreadable } from './malformed.ts'
import { counted, split, takeCounted } from './octets.ts'
import { characters, escape, unescape } from './presentation.ts'

/** The longest name on the wire, and the longest label (RFC 1035 §2.3.4). */
const MAX_NAME = 255
export const MAX_LABEL = 63

const TOO_LONG = 'Hostname must be no longer than 255 characters'

/** The root, on the wire. */
export const ROOT = '\0'

/** An absolute name as text (RFC 1035 §5.1): it ends in a dot. All other texts of names have none. */
export type Name = `${string}.`

/** Returns the absolute form of a name without final dot. */
export function absolute(name: string): Name {
  return `${name}.`
}

/** Returns an absolute name without its final dot. */
export function relative(name: Name): string {
  return name.slice(0, -1)
}

/** Returns a name without its final dot, which it need not have. */
export function withoutDot(text: string): string {
  return text.replace(/\.$/, '')
}

/** Reads an absolute name (RFC 1035 §5.1) into its wire form, one character per octet. Case is kept. */
export function parseName(text: string): string {
  if (/[\u0080-\uffff]/.test(text)) {
    throw new Unreadable('A DNS label is not ASCII; write it in Punycode ("xn--...").')
  }
  if (text === '.') return ROOT
  // An octet is written in at most four characters.
  if (text.length > 4 * MAX_NAME) throw new Refused(TOO_LONG)
  // The last match is empty.
  const pieces = [...text.matchAll(/((?:[^\\.]+|\\(?:[0-9]{3}|[^])?)*)(\.?)/g)].slice(0, -1)
  if (!pieces.at(-1)?.[2]) throw new Refused('Hostname must be fully qualified (i.e., end in a dot: "example.com.")')
  const labels = pieces.map(([, label]) => unescape(label!))
  if (labels.includes('')) throw new Unreadable('A DNS label is empty.')
  if (labels.some((octets) => octets.length > MAX_LABEL)) throw new Unreadable('A DNS label is > 63 octets long.')
  const wire = labels.map(counted).join('') + ROOT
  if (wire.length > MAX_NAME) throw new Refused(TOO_LONG)
  return wire
}

/**
 * Returns the absolute form of a name in a zone file (RFC 1035 §5.1): a name without final dot is relative to the
 * origin, `@` is the origin itself.
 */
export function qualified(raw: string, origin: string): string {
  if (raw === '@') return origin
  if (/(?<!\\)(?:\\\\)*\\$/.test(raw)) throw new Unreadable('Text input is malformed.')
  if (/(?<!\\)(?:\\\\)*\.$/.test(raw)) return raw
  return origin === '.' ? `${raw}.` : `${raw}.${origin}`
}

/** Returns the name at the beginning of `wire`; rejects compressed names (RFC 3597 §4). */
export function takeName(wire: string): string {
  for (let at = 0; at < wire.length; at += 1 + wire.charCodeAt(at)) {
    if (wire.charCodeAt(at) > MAX_LABEL) throw new Unreadable('A DNS label is > 63 octets long.')
    if (at >= MAX_NAME) throw new Refused(TOO_LONG)
    if (wire[at] === ROOT) return wire.slice(0, at + 1)
  }
  throw new Unreadable('the name is not complete')
}

/** Prints a name in wire form as the API shows it; characters that are special in a zone file are escaped. */
export function printName(wire: string): Name {
  if (wire === ROOT) return '.'
  const labels = split(wire.slice(0, -1), takeCounted)
  return absolute(labels.map((label) => escape(label.slice(1), /["().;\\@$]|[^\x21-\x7e]/g)).join('.'))
}

/** Folds only the case of ASCII letters (RFC 4343); works for names as text and on the wire. */
export function lowerCase(name: string): string {
  // No label length is the code of a letter: 63 < 0x41.
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** Returns the absolute name of an RRset's owner. */
export function nameOf(domain: { name: string }, subname: string): Name {
  return absolute(subname === '' ? domain.name : `${subname}.${domain.name}`)
}

/** Returns the octets of an absolute owner name on the wire. It has no escapes, as subnames and domains have none. */
export function ownerLength(name: string): number {
  return name === '.' ? 1 : name.length + 1
}

/** The longest subname (contract §8.4). */
export const SUBNAME_LENGTH = 178

/** Returns the error texts about a subname that would be invalid in every domain (contract §8.4). */
export function subnameProblems(subname: string): string[] {
  return [...lengthAndCaseProblems(subname), ...(isSubname(subname) ? [] : [SUBNAME_RULE])]
}

/** Returns those that a pattern of subnames can have, too. */
export function lengthAndCaseProblems(text: string): string[] {
  const texts: string[] = []
  if (characters(text) > SUBNAME_LENGTH) texts.push(`Ensure this field has no more than ${SUBNAME_LENGTH} characters.`)
  if (text !== text.toLowerCase()) texts.push(`Invalid value (not lowercase): ${text}`)
  return texts
}

/** Returns a name and its ancestors, the longest first. */
export function withAncestors(name: string): string[] {
  const labels = name.split('.')
  return labels.map((_, i) => labels.slice(i).join('.'))
}

/** Returns the one of `names` that is the direct parent of `name`. */
export function parentAmong(name: string, names: readonly string[]): string | undefined {
  return names.find((parent) => parent === withAncestors(name)[1])
}

/** Returns the label of a subname directly below the domain's name; empty for the apex. */
export function topLabel(subname: string): string {
  return subname.slice(subname.lastIndexOf('.') + 1)
}

/** Finds something that is not a label. One expression for all labels would overflow the stack on long texts. */
const NO_LABEL = /(?:^|\.)(?![a-z0-9_-]{1,63}(?:\.|$))/

/** The rule that isSubname checks, in the words of the contract (§8.4). */
export const SUBNAME_RULE =
  "Subname can only use (lowercase) a-z, 0-9, ., -, and _, may start with a '*.', or just be '*'. Components may not " +
  'exceed 63 characters.'

/** Reports whether a text is a subname (contract §8.4): empty (apex), or lower-case labels; the first may be `*`. */
export function isSubname(text: string): boolean {
  if (text === '' || text === '*') return true
  return !NO_LABEL.test(text.replace(/^[*][.]/, ''))
}

/** Reports whether a text has the syntax of a domain name (contract §7.3), in any case; does not check the length. */
export function isDomainName(text: string): boolean {
  return !NO_LABEL.test(lowerCase(text)) && !text.slice(text.lastIndexOf('.') + 1).includes('_')
}
