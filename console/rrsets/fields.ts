import type { Field as Codec } from '../../src/dns/codecs/fields.ts'
import { Malformed } from '../../src/dns/malformed.ts'
import { absolute, qualified } from '../../src/dns/names.ts'
import { lexRecord, type Token } from '../../src/dns/presentation.ts'
import { parseRdata, type Rdata } from '../../src/dns/rdata.ts'
import { TYPES } from '../../src/dns/types.ts'
import { quoted, textOf } from './text.ts'

/** A field of a record, as the console shows it. */
export interface Field {
  label: string
  /**
   * `text`: the content of a quoted string; `texts`: of all strings of the record, joined; `rest`: all that follows, in
   * presentation format; the others are one word.
   */
  kind: 'number' | 'word' | 'text' | 'texts' | 'rest'
  /** What it has to be, and an example, where the service does not say it in the words of the field. */
  wanted?: [what: string, example: string]
  /** What an empty input shows. */
  example?: string
}

const number = (label: string, bits: 8 | 16): Field => ({
  label,
  kind: 'number',
  wanted: [`a whole number from 0 to ${2 ** bits - 1}`, '10'],
})
const word = (label: string): Field => ({ label, kind: 'word' })
const hex = (label: string): Field => ({
  label,
  kind: 'rest',
  wanted: ['an even number of hexadecimal digits', '9f86d081'],
})
const address = (label: string, example: string): Field => ({
  label,
  kind: 'word',
  wanted: [`an ${label}`, example],
})

const SERVICE: Field[] = [
  number('Priority', 16),
  word('Target'),
  { label: 'Parameters', kind: 'rest', example: 'alpn=h2' },
]

/** The types whose records have fields; those of other types are edited in presentation format. */
export const FIELDS: Readonly<Record<string, readonly Field[]>> = {
  A: [address('IPv4 address', '192.0.2.1')],
  AAAA: [address('IPv6 address', '2001:db8::1')],
  CNAME: [word('Target')],
  MX: [number('Priority', 16), word('Mail server')],
  TXT: [{ label: 'Text', kind: 'texts' }],
  NS: [word('Nameserver')],
  SRV: [number('Priority', 16), number('Weight', 16), number('Port', 16), word('Target')],
  CAA: [number('Flags', 8), word('Tag'), { label: 'Value', kind: 'text' }],
  DS: [number('Key tag', 16), word('Algorithm'), number('Digest type', 8), hex('Digest')],
  TLSA: [number('Usage', 8), number('Selector', 8), number('Matching type', 8), hex('Data')],
  SSHFP: [number('Algorithm', 8), number('Fingerprint type', 8), hex('Fingerprint')],
  HTTPS: SERVICE,
  SVCB: SERVICE,
}

/** The values of a record's fields; undefined if the type has none, or the record cannot be shown in them. */
export function valuesOf(type: string, record: string): string[] | undefined {
  const fields = FIELDS[type]
  const tokens = fields && tokensOf(record)
  if (tokens === undefined || isGeneric(tokens)) return undefined
  const values = fields!.map((field, i) => valueOf(field, tokens.slice(i)))
  const isWhole = ['texts', 'rest'].includes(fields!.at(-1)!.kind) || tokens.length === values.length
  return isWhole && values.every((value) => value !== undefined) ? values : undefined
}

function valueOf({ kind }: Field, tokens: Token[]): string | undefined {
  const [token] = tokens
  if (kind === 'rest') return written(tokens)
  if (token === undefined) return undefined
  // An empty field is one that is not filled in.
  if (kind === 'texts') return tokens.every((each) => each.quoted) ? textIn(tokens) || undefined : undefined
  if (kind === 'text') return textIn([token])
  return token.quoted ? undefined : token.raw
}

function textIn(tokens: Token[]): string | undefined {
  try {
    return textOf(tokens)
  } catch {
    return undefined
  }
}

/** The record, in presentation format, whose fields have these values. */
export function recordOf(type: string, values: string[]): string {
  return FIELDS[type]!.map((field, i) => spelled(field, values[i]!))
    .filter((text) => text !== '')
    .join(' ')
}

/** A field's value in presentation format. */
function spelled({ kind }: Field, value: string): string {
  return kind === 'text' || kind === 'texts' ? quoted(value) : value.trim()
}

/** What is wrong with a record, and with which of its inputs. */
export interface Problem {
  problem: string
  at: number
  /** The record with the quotes that it lacks, if they make it right. */
  quoted?: string
}

/** A record's forms, or what is wrong with it. @param values of its fields; without, its only input is its text */
export function checked(type: string, record: string, values?: string[]): Rdata | Problem {
  try {
    return parseRdata(type, record)
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    const fields = FIELDS[type]
    if (values === undefined) return unquoted(type, record) ?? { problem: `${error.message}${parts(fields)}`, at: 0 }
    const at = fields!.findIndex((field, i) => !canRead(TYPES.get(type)!.fields[i]!, spelled(field, values[i]!)))
    // What is wrong with the whole record is wrong with its last field: a digest's length, the parameters of an alias.
    return { problem: problemOf(fields![at], values[at]) ?? error.message, at: at < 0 ? fields!.length - 1 : at }
  }
}

function parts(fields: readonly Field[] = []): string {
  return fields.length < 2 ? '' : ` It is written as: ${fields.map(({ label }) => label).join(', ')}.`
}

function problemOf({ label, kind, wanted }: Partial<Field> = {}, value = ''): string | undefined {
  if (kind === 'word' && /\S\s+\S/.test(value)) return `${label} is one word, without blanks.`
  if (wanted === undefined) return undefined
  const [what, example] = wanted
  return `${value.trim() === '' ? `${label} is missing: ${what}` : `${value} is not ${what}`}. Example: ${example}`
}

/** What is wrong with a text without its quotes; undefined if that is not all that is wrong. */
function unquoted(type: string, record: string): Problem | undefined {
  const text = /^([^"]*?)\s*$/.exec(record)?.[1]
  if (type !== 'TXT' || text === undefined) return undefined
  return { problem: 'A text stands in quotes.', at: 0, quoted: quoted(text) }
}

function canRead(codec: Codec, text: string): boolean {
  try {
    const tokens = lexRecord(text)
    codec.read(tokens)
    return codec.rest === true || tokens.length === 1
  } catch {
    return false
  }
}

/** A name without final dot: which token of the record it is, and the absolute names that it may mean. */
export interface Question {
  at: number
  name: string
  answers: string[]
}

/** The record with the likeliest answer to each question, and the first of these. */
export function meant(type: string, record: string, domain: string): { text: string; taken: Question | undefined } {
  const taken = questionIn(type, record, domain)
  let text = record
  for (let question = taken; question !== undefined; question = questionIn(type, text, domain))
    text = answered(text, question, question.answers[0]!)
  return { text, taken }
}

/** The first name of a record that lacks its final dot; undefined if there is none. */
export function questionIn(type: string, record: string, domain: string): Question | undefined {
  const tokens = tokensOf(record) ?? []
  const { fields } = TYPES.get(type)!
  // With more than the type has, a part of it is none of the record's names.
  if (isGeneric(tokens) || (tokens.length > fields.length && fields.at(-1)!.rest !== true)) return undefined
  for (const [at, field] of fields.entries()) {
    const token = tokens[at]
    if (!field.isName || token === undefined || token.quoted || token.raw.endsWith('\\')) continue
    const name = token.raw
    const below = qualified(name, absolute(domain))
    if (below !== name) return { at, name, answers: likeliest(name, below) }
  }
  return undefined
}

/** The absolute names that a name may mean; the first is what most mean: one label is a host of the domain. */
function likeliest(name: string, below: string): string[] {
  if (name === '@') return [below]
  return name.includes('.') ? [absolute(name), below] : [below, absolute(name)]
}

/** A content that somebody looks for: with the final dot of a name at its end, which records have. */
export function contentOf(typed: string): string {
  return typed.replace(/(?:^| )(?!\d+\.\d+\.\d+\.\d+$)[\w*-]+(?:\.[\w-]+)+$/, '$&.')
}

/** The record with the answer to its question. */
export function answered(record: string, { at }: Question, answer: string): string {
  return written(lexRecord(record).map((token, i) => (i === at ? { ...token, raw: answer } : token)))
}

function tokensOf(record: string): Token[] | undefined {
  try {
    return lexRecord(record)
  } catch {
    return undefined
  }
}

function isGeneric([first]: Token[]): boolean {
  return first !== undefined && !first.quoted && first.raw === '\\#'
}

function written(tokens: Token[]): string {
  return tokens
    .map(({ raw, quoted, joined }, i) => `${i === 0 || joined ? '' : ' '}${quoted ? `"${raw}"` : raw}`)
    .join('')
}
