import { decimal } from './codecs/fields.ts'
import { Malformed, Unquoted, Unreadable } from './malformed.ts'
import { qualified } from './names.ts'
import { fromHex } from './octets.ts'
import { lexRecord, MAX_RDATA, type Token, word } from './presentation.ts'
import { type RecordType, TYPES } from './types.ts'

export { Malformed } from './malformed.ts'

/** The content of one record in all its forms. */
export interface Rdata {
  /** The canonical text, which the API stores and shows. */
  text: string
  /** The uncompressed wire form, one character per octet. */
  wire: string
  /** Two records of one type are duplicates if their keys are equal (RFC 4034 §6.2). */
  key: string
}

/** Reads the text of a record of a supported type (contract §9.2). @throws Malformed */
export function parseRdata(type: string, text: string): Rdata {
  return explained(type, (row) => {
    const tokens = lexRecord(text)
    if (row.quoted && tokens.some((token) => !token.quoted)) throw new Unquoted('expecting a string')
    return read(row, tokens)
  })
}

/**
 * Reads the tokens of a record in a zone file, where names may be relative to `origin` and strings need no quotes.
 * @throws Malformed
 */
export function readRdata(type: string, tokens: Token[], origin: string): Rdata {
  return explained(type, (row) => {
    const absolutes = tokens.map((token, i) =>
      row.fields[i]?.isName && !token.quoted ? { ...token, raw: qualified(token.raw, origin) } : token,
    )
    return read(row, isGeneric(tokens) ? tokens : absolutes)
  })
}

/** Reads the uncompressed wire form of a record of a supported type. @throws Malformed */
export function decodeRdata(type: string, wire: string): Rdata {
  return explained(type, (row) => decode(row, wire))
}

/** Runs `work`, and turns Unreadable into Malformed with the text of contract §9.3. */
function explained(type: string, work: (row: RecordType) => Rdata): Rdata {
  const row = TYPES.get(type)
  if (!row) throw new Error(`${type} is not a supported type`)
  try {
    return work(row)
  } catch (error) {
    if (error instanceof Unquoted && row.quoted) {
      throw new Malformed(`Data for ${type} records must be given using quotation marks.`)
    }
    if (error instanceof Unreadable) throw new Malformed(`Record content for type ${type} malformed: ${error.message}`)
    throw error
  }
}

/** Reads the tokens of a record, in generic form or that of its type. */
function read(row: RecordType, tokens: Token[]): Rdata {
  const { fields } = row
  if (isGeneric(tokens)) return decode(row, readGeneric(tokens))
  const surplus = fields.at(-1)?.rest ? undefined : tokens[fields.length]
  if (surplus) throw new Unreadable(`expected end of record, got "${surplus.raw}"`)
  const octets = fields.map((field, i) => field.read(tokens.slice(i)))
  return formsOf(row, octets)
}

/** Reads wire form: prints it, and reads the text, which must give the same octets. So `read` holds all the rules. */
function decode(row: RecordType, wire: string): Rdata {
  let rest = wire
  const texts = row.fields.map((field) => {
    const own = field.take?.(rest) ?? rest
    rest = rest.slice(own.length)
    return field.print(own)
  })
  if (rest !== '') throw new Unreadable('the data is longer than the record')
  const rdata = read(row, lexRecord(texts.join(' ')))
  if (rdata.wire !== wire) throw new Unreadable('the data is not in canonical form')
  return rdata
}

function isGeneric([first]: Token[]): boolean {
  return first !== undefined && !first.quoted && first.raw === '\\#'
}

/** Reads the octets of `\# length hex` (RFC 3597 §5). */
function readGeneric([, length, ...digits]: Token[]): string {
  const octets = decimal(word(length), 16)
  const wire = fromHex(digits.map(word).join(''))
  if (wire.length !== octets) throw new Unreadable('the generic data does not have the length given')
  return wire
}

/** Returns all forms of a record, from the wire form of each field. */
function formsOf({ fields, check }: RecordType, octets: string[]): Rdata {
  const wire = octets.join('')
  if (wire.length > MAX_RDATA) throw new Unreadable(`the record is longer than ${MAX_RDATA} octets`)
  check?.(octets)
  const texts = octets.map((own, i) => fields[i]!.print(own))
  return {
    // A field may be an empty list.
    text: texts.filter((text) => text !== '').join(' '),
    wire,
    key: octets.map((own, i) => fields[i]!.fold?.(own) ?? own).join(''),
  }
}
