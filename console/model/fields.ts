import { Malformed } from '../../src/dns/malformed.ts'
import { absolute } from '../../src/dns/names.ts'
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
  /** The greatest number. */
  max?: number
  /** An example of what it holds, where the service says only that it is malformed. */
  example?: string
}

const number = (label: string, bits: 8 | 16): Field => ({ label, kind: 'number', max: 2 ** bits - 1 })
const word = (label: string): Field => ({ label, kind: 'word' })
const rest = (label: string): Field => ({ label, kind: 'rest' })

const SERVICE = [number('Priority', 16), word('Target'), rest('Parameters')]

/** The types whose records have fields; those of other types are edited in presentation format. */
export const FIELDS: Readonly<Record<string, readonly Field[]>> = {
  A: [{ ...word('IPv4 address'), example: '192.0.2.1' }],
  AAAA: [{ ...word('IPv6 address'), example: '2001:db8::1' }],
  CNAME: [word('Target')],
  MX: [number('Priority', 16), word('Mail server')],
  TXT: [{ label: 'Text', kind: 'texts' }],
  NS: [word('Nameserver')],
  SRV: [number('Priority', 16), number('Weight', 16), number('Port', 16), word('Target')],
  CAA: [number('Flags', 8), word('Tag'), { label: 'Value', kind: 'text' }],
  DS: [number('Key tag', 16), word('Algorithm'), number('Digest type', 8), rest('Digest')],
  TLSA: [number('Usage', 8), number('Selector', 8), number('Matching type', 8), rest('Data')],
  SSHFP: [number('Algorithm', 8), number('Fingerprint type', 8), rest('Fingerprint')],
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
  return FIELDS[type]!.map(({ kind }, i) =>
    kind === 'text' || kind === 'texts' ? quoted(values[i]!) : values[i]!.trim(),
  )
    .filter((text) => text !== '')
    .join(' ')
}

/** A record's forms, or what is wrong with it. @param values of its fields, to say which number is none */
export function checked(type: string, record: string, values?: string[]): Rdata | string {
  try {
    return parseRdata(type, record)
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    const fields = values === undefined ? [] : FIELDS[type]!
    const wrong = fields.find(({ max }, i) => max !== undefined && !isNumber(values![i]!, max))
    if (wrong !== undefined) return `${wrong.label}: a whole number from 0 to ${wrong.max}.`
    const [{ label, example } = {}] = fields
    return example === undefined ? error.message : `This is no ${label}, such as ${example}.`
  }
}

function isNumber(text: string, max: number): boolean {
  return /^[0-9]+$/.test(text.trim()) && Number(text) <= max
}

/** A name without final dot: which token of the record it is, and the absolute names that it may mean. */
export interface Question {
  at: number
  name: string
  answers: string[]
}

/** The first name of a record that lacks its final dot; undefined if there is none. */
export function questionIn(type: string, record: string, domain: string): Question | undefined {
  const tokens = tokensOf(record) ?? []
  if (isGeneric(tokens)) return undefined
  for (const [at, field] of TYPES.get(type)!.fields.entries()) {
    const token = tokens[at]
    if (!field.isName || token === undefined || token.quoted || token.raw.endsWith('\\')) continue
    const name = token.raw
    const below = absolute(name, `${domain}.`)
    if (below !== name) return { at, name, answers: name === '@' ? [below] : [`${name}.`, below] }
  }
  return undefined
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
