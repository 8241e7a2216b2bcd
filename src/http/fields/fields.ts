import * as yup from 'yup'
import { MAX_RECORDS, MAX_RECORDS_JSON } from '../../dns/rrset.ts'
import { Invalid, type Problems } from '../../errors.ts'
import { INTEGER_TEXT_LENGTH } from '../../limits.ts'
import { readTime } from '../../time.ts'
import { NON_BLANK, NON_EMPTY_TEXT, TEXT, TIME_INPUT } from './patterns.ts'
import { BOOLEAN, type Component, type JsonSchema, oneOf, STRING } from './schema.ts'

/** The input fields of contract §1.4, as yup schemas. Each carries its JSON schemas. */

declare module 'yup' {
  interface CustomSchemaMetadata {
    /** The schema of the member in requests. */
    accepted?: JsonSchema
    /** The schema of the member in responses; default: the same. */
    shown?: JsonSchema
  }
}

export const NULL = 'This field may not be null.'
const BLANK = 'This field may not be blank.'
const REQUIRED = 'This field is required.'

function isString(value: unknown): value is string {
  return typeof value === 'string'
}

/** A marker in place of an invalid value. */
export interface Problem {
  problem: string
}

/** Returns the field of text, or of a number, which becomes text. */
export function text({ trim, otherwise = 'Not a valid string.' }: { trim: boolean; otherwise?: string }) {
  return yup
    .mixed(isString)
    .transform((value: unknown) => {
      const string = typeof value === 'number' ? String(value) : value
      return trim && typeof string === 'string' ? string.trim() : string
    })
    .typeError(otherwise)
    .nonNullable(NULL)
    .test('characters', (value, { createError }) => {
      const problem = typeof value === 'string' ? characterProblem(value) : undefined
      return problem === undefined || createError({ message: problem })
    })
    .meta({ accepted: TEXT, shown: STRING })
}

/** Returns the field of text that is not empty. */
export function nonBlankText({ trim }: { trim: boolean }) {
  return text({ trim })
    .test('blank', BLANK, (value) => value !== '')
    .meta({ accepted: trim ? { ...TEXT, pattern: NON_BLANK } : NON_EMPTY_TEXT })
}

/** Returns the field of text that is not empty, and for which `problems` returns nothing. */
export function ruledText({ trim }: { trim: boolean }, problems: (text: string) => string[]) {
  return nonBlankText({ trim }).test('rules', (value, { path }) => {
    const texts = typeof value === 'string' && value !== '' ? problems(value) : []
    return texts.length === 0 || refusal(path, texts)
  })
}

const WRONG_TIME =
  'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm:ss[.uuuuuu][+HH:MM|-HH:MM|Z].'

/** A time, as text that `readTime` reads (contract §15.5). */
export function time() {
  const problems = (text: string) => (readTime(text) === undefined ? [WRONG_TIME] : [])
  return ruledText({ trim: true }, problems).meta({ accepted: TIME_INPUT })
}

/** Returns the field of one of these words. */
export function choice<Word extends string>(words: readonly Word[]) {
  return yup
    .mixed((value): value is Word => words.some((word) => word === value))
    .typeError(({ originalValue }: { originalValue: unknown }) => {
      const shown = typeof originalValue === 'string' ? originalValue : JSON.stringify(originalValue)
      return `"${shown}" is not a valid choice.`
    })
    .nonNullable(NULL)
    .meta({ accepted: oneOf(...words), shown: oneOf(...words) })
}

const ACCEPTED_BOOLEAN: Component = {
  title: 'BooleanInput',
  description: 'A boolean, or a word or number for one.',
  anyOf: [
    BOOLEAN,
    { type: 'integer', enum: [0, 1] },
    {
      type: 'string',
      pattern: String.raw`^\s*([tTyY10fFnN]|[yY][eE][sS]|[tT][rR][uU][eE]|[oO][nN]|[nN][oO]|[fF][aA][lL][sS][eE]|[oO][fF][fF])\s*$`,
    },
  ],
  examples: [true],
}

const TRUE: unknown[] = [true, 1, 't', 'y', 'yes', 'true', 'on', '1']
const FALSE: unknown[] = [false, 0, 'f', 'n', 'no', 'false', 'off', '0']

/** Returns the field of a boolean, or of a word for one. */
export function boolean() {
  return yup
    .mixed((value): value is boolean => typeof value === 'boolean')
    .transform((value: unknown) => {
      const word = typeof value === 'string' ? value.trim().toLowerCase() : value
      if (TRUE.includes(word)) return true
      return FALSE.includes(word) ? false : value
    })
    .typeError('Must be a valid boolean.')
    .nonNullable(NULL)
    .meta({ accepted: ACCEPTED_BOOLEAN, shown: BOOLEAN })
}

const ACCEPTED_INTEGER: Component = {
  title: 'IntegerInput',
  description: 'An integer, also as text.',
  anyOf: [
    { type: 'integer' },
    { type: 'string', pattern: String.raw`^\s*[+-]?\d+(\.0*)?\s*$`, maxLength: INTEGER_TEXT_LENGTH },
  ],
  examples: [3600],
}

/** Returns the field of an integer, also as text or with `.0`. */
export function integer() {
  return yup
    .mixed((value): value is number => Number.isSafeInteger(value))
    .transform((value: unknown) => {
      if (Number.isInteger(value)) return clamp(value as number)
      if (typeof value !== 'string' || value.length > INTEGER_TEXT_LENGTH) return value
      return /^\s*[+-]?\d+(\.0*)?\s*$/.test(value) ? clamp(Number(value)) : value
    })
    .typeError(({ originalValue }: { originalValue: unknown }) =>
      typeof originalValue === 'string' && originalValue.length > INTEGER_TEXT_LENGTH
        ? 'String value too large.'
        : 'A valid integer is required.',
    )
    .nonNullable(NULL)
    .meta({ accepted: ACCEPTED_INTEGER, shown: { type: 'integer' } })
}

/** Rounds integers that a double cannot represent exactly to the nearest one that it can; all ranges exclude both. */
function clamp(value: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, value))
}

/**
 * Returns the field of an array of at most `max` items. Problems name the item's position (contract §1.4).
 * @param items the schema of an item in requests; `shown`, the one in responses
 */
export function array<Item>(
  read: (item: unknown) => Item | Problem,
  max: number,
  items: JsonSchema,
  shown: JsonSchema = items,
) {
  return yup
    .mixed((value): value is Item[] => Array.isArray(value))
    .transform((value: unknown) => (Array.isArray(value) ? value.slice(0, max + 1).map(read) : value))
    .typeError(
      ({ originalValue }: { originalValue: unknown }) =>
        `Expected a list of items but got type "${typeName(originalValue)}".`,
    )
    .nonNullable(NULL)
    .test('items', (value: unknown[] | undefined, { path }) => {
      if ((value?.length ?? 0) > max) return refusal(path, [`Ensure this field has no more than ${max} elements.`])
      const texts = (value ?? []).flatMap((item, i) => {
        const { problem } = Object(item) as Partial<Problem>
        return problem === undefined ? [] : [`Item ${i}: ${problem}`]
      })
      return texts.length === 0 || refusal(path, texts)
    })
    .meta({ accepted: { type: 'array', items, maxItems: max }, shown: { type: 'array', items: shown } })
}

/** Returns the field of an array of texts, none of them empty. */
export function texts() {
  return array(readItem, MAX_RECORDS, { type: 'string', pattern: NON_BLANK, maxLength: MAX_RECORDS_JSON }, STRING)
}

function readItem(item: unknown): string | Problem {
  if (item === null) return { problem: NULL }
  if (typeof item !== 'string') return { problem: 'Must be a string.' }
  const trimmed = item.trim()
  if (trimmed === '') return { problem: BLANK }
  const problem = characterProblem(trimmed)
  return problem === undefined ? trimmed : { problem }
}

/** Returns the result of a test that found several problems. */
function refusal(path: string, texts: string[]): yup.ValidationError {
  const errors = texts.map((text) => new yup.ValidationError(text, undefined, path, undefined, true))
  return new yup.ValidationError(errors, undefined, path, undefined, true)
}

/** Returns the error text if the text contains a character that no field accepts. */
function characterProblem(value: string): string | undefined {
  if (value.includes('\0')) return 'Null characters are not allowed.'
  const surrogate = /[\ud800-\udfff]/u.exec(value)?.[0]
  if (surrogate === undefined) return undefined
  return `Surrogate characters are not allowed: U+${surrogate.charCodeAt(0).toString(16).toUpperCase()}.`
}

/** Returns the name of a JSON value's type in error texts (contract §1.3). */
export function typeName(value: unknown): string {
  if (value === null) return 'NoneType'
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float'
  return typeof value === 'string' ? 'str' : 'dict'
}

/** The name under which the code has a member: `max_age` is `maxAge`. */
export type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name

export function camelCase(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

export type Shape = Record<string, yup.Schema>
export type Values<S extends Shape> = {
  [Name in keyof S as CamelCase<Name>]?: Exclude<yup.InferType<S[Name]>, undefined>
}

/** The values of a form: some of its members are required. */
type Form<S extends Shape, N extends keyof S> = Values<Omit<S, N>> & Required<Values<Pick<S, N>>>

/** Stack traces have no reader, and take ten times as long as the rest. */
const OPTIONS = { abortEarly: false, disableStackTrace: true }

/**
 * Reads the members that the shape names, and ignores others. The result omits missing and invalid members; `problems`
 * has the error texts of the invalid ones.
 * @throws Invalid if the body is not an object
 */
export function readFields<S extends Shape>(body: unknown, shape: S): Values<S> & { problems: Problems } {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    throw Invalid.object(`Invalid data. Expected a dictionary, but got ${typeName(body)}.`)
  }
  const values: Record<string, unknown> = {}
  const problems: Problems = {}
  for (const [name, schema] of Object.entries(shape)) {
    if (!Object.hasOwn(body, name)) continue
    try {
      values[camelCase(name)] = schema.validateSync((body as Record<string, unknown>)[name], OPTIONS)
    } catch (error) {
      if (!(error instanceof yup.ValidationError)) throw error
      problems[name] = error.errors
    }
  }
  return Object.assign(values as Values<S>, { problems })
}

/** Reads fields like `readFields`, but throws the problems. @throws Invalid, also if a required member is missing */
export function readForm<S extends Shape, N extends keyof S>(body: unknown, shape: S, required: N[]): Form<S, N> {
  const { problems, ...values } = readFields(body, shape)
  const all: Problems = {}
  for (const name of Object.keys(shape)) {
    const isMissing = required.some((each) => each === name) && !(camelCase(name) in values)
    const texts = problems[name] ?? (isMissing ? [REQUIRED] : undefined)
    if (texts !== undefined) all[name] = texts
  }
  if (Object.keys(all).length > 0) throw new Invalid(all)
  return values as unknown as Form<S, N>
}
