import * as yup from 'yup'
import { MAX_RECORDS } from '../../dns/rrset.ts'
import { Invalid, type Problems } from '../../errors.ts'
import { INTEGER_TEXT_LENGTH } from '../../limits.ts'

/** The kinds of input fields of contract §1.4, with its texts. */

export const NULL = 'This field may not be null.'
const BLANK = 'This field may not be blank.'
const REQUIRED = 'This field is required.'

function isString(value: unknown): value is string {
  return typeof value === 'string'
}

/** In place of a value: why there is none. */
export interface Problem {
  problem: string
}

/** Text; numbers count as their digits. `trim` is for all but the names of domains. */
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
}

/** Text that may not be empty. */
export function nonBlankText({ trim }: { trim: boolean }) {
  return text({ trim }).test('blank', BLANK, (value) => value !== '')
}

/** Text that is not empty, and of which `problems` says what else is wrong with it. */
export function ruledText({ trim }: { trim: boolean }, problems: (text: string) => string[]) {
  return nonBlankText({ trim }).test('rules', (value, { path }) => {
    const texts = typeof value === 'string' && value !== '' ? problems(value) : []
    return texts.length === 0 || refusal(path, texts)
  })
}

const TRUE: unknown[] = [true, 1, 't', 'y', 'yes', 'true', 'on', '1']
const FALSE: unknown[] = [false, 0, 'f', 'n', 'no', 'false', 'off', '0']

/** A boolean, also as one of the words for it. */
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
}

/** A whole number, also as text or with `.0`. */
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
}

/** Integers beyond what a double holds exactly are out of every range here. */
function clamp(value: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, value))
}

/** An array of what `read` makes of each item, at most so many; problems name the position (contract §1.4). */
export function array<Item>(read: (item: unknown) => Item | Problem, most: number) {
  return yup
    .mixed((value): value is Item[] => Array.isArray(value))
    .transform((value: unknown) => (Array.isArray(value) ? value.slice(0, most + 1).map(read) : value))
    .typeError(
      ({ originalValue }: { originalValue: unknown }) =>
        `Expected a list of items but got type "${typeName(originalValue)}".`,
    )
    .nonNullable(NULL)
    .test('items', (value: unknown[] | undefined, { path }) => {
      if ((value?.length ?? 0) > most) return refusal(path, [`Ensure this field has no more than ${most} elements.`])
      const texts = (value ?? []).flatMap((item, i) => {
        const { problem } = Object(item) as Partial<Problem>
        return problem === undefined ? [] : [`Item ${i}: ${problem}`]
      })
      return texts.length === 0 || refusal(path, texts)
    })
}

/** An array of texts that are not empty. */
export function texts() {
  return array(readItem, MAX_RECORDS)
}

function readItem(item: unknown): string | Problem {
  if (item === null) return { problem: NULL }
  if (typeof item !== 'string') return { problem: 'Must be a string.' }
  const trimmed = item.trim()
  if (trimmed === '') return { problem: BLANK }
  const problem = characterProblem(trimmed)
  return problem === undefined ? trimmed : { problem }
}

/** What a test answers that has found several things wrong. */
function refusal(path: string, texts: string[]): yup.ValidationError {
  const errors = texts.map((text) => new yup.ValidationError(text, undefined, path, undefined, true))
  return new yup.ValidationError(errors, undefined, path, undefined, true)
}

/** Characters that no text of ours may hold. */
function characterProblem(value: string): string | undefined {
  if (value.includes('\0')) return 'Null characters are not allowed.'
  const surrogate = /[\ud800-\udfff]/u.exec(value)?.[0]
  if (surrogate === undefined) return undefined
  return `Surrogate characters are not allowed: U+${surrogate.charCodeAt(0).toString(16).toUpperCase()}.`
}

/** What a JSON value is called in texts (contract §1.3). */
export function typeName(value: unknown): string {
  if (value === null) return 'NoneType'
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float'
  return typeof value === 'string' ? 'str' : 'dict'
}

type Shape = Record<string, yup.Schema>
type Values<S extends Shape> = { [Name in keyof S]?: Exclude<yup.InferType<S[Name]>, undefined> }

/** Where in the code something is found wrong is nobody's question, and takes ten times as long as all else. */
const OPTIONS = { abortEarly: false, disableStackTrace: true }

/**
 * Reads the members that the shape names; others are ignored. A member that is missing, or wrong, is not among the
 * values; what is wrong is among the problems.
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
      values[name] = schema.validateSync((body as Record<string, unknown>)[name], OPTIONS)
    } catch (error) {
      if (!(error instanceof yup.ValidationError)) throw error
      problems[name] = error.errors
    }
  }
  return Object.assign(values as Values<S>, { problems })
}

/**
 * As `readFields`, of a form that is complete in itself.
 * @param required the members that must be there
 * @throws Invalid if anything is wrong with it
 */
export function readForm<S extends Shape, R extends keyof S & string>(
  body: unknown,
  shape: S,
  required: readonly R[],
): Values<S> & Required<Pick<Values<S>, R>> {
  const { problems, ...values } = readFields(body, shape)
  const complete: Problems = {}
  for (const name of Object.keys(shape)) {
    const texts = problems[name] ?? (required.includes(name as R) && !(name in values) ? [REQUIRED] : [])
    if (texts.length > 0) complete[name] = texts
  }
  if (Object.keys(complete).length > 0) throw new Invalid(complete)
  return values as unknown as Values<S> & Required<Pick<Values<S>, R>>
}
