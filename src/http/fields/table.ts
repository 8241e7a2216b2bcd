import type * as yup from 'yup'
import type { Problems } from '../../errors.ts'
import { camelCase, readFields, readForm, type CamelCase, type Shape, type Values } from './fields.ts'
import { described, named, nullable, object, type Component, type JsonSchema } from './schema.ts'

/**
 * A member of a representation. Its key determines who sees it:
 * - `read`: responses have it.
 * - `detail`: only responses that show one object in full have it.
 * - `readOnce`: only the response to the creation has it.
 * - `write`: responses have it, and requests may.
 * - `writeOnce`: responses have it, and requests that create the object may.
 * - `writeOnly`: requests may have it.
 */
type Row<Source, Context> = (
  | { read: JsonSchema }
  | { detail: JsonSchema }
  | { readOnce: JsonSchema }
  | { write: yup.Schema }
  | { writeOnce: yup.Schema }
  | { writeOnly: yup.Schema }
) & {
  /** The meaning of the member, for the reference. */
  text: string
  example?: unknown
  /** Returns its value; by default, the source's property of the same name in camel case. */
  from?: (source: Source, context: Context) => unknown
}

type Rows<Source, Context> = Record<string, Row<Source, Context>>

/** The rows that do not say where their value comes from, although the source has no property of their name. */
type Unsourced<Source, M> = {
  [Name in keyof M]: M[Name] extends { from: unknown } | { writeOnly: unknown }
    ? never
    : CamelCase<Name> extends keyof Source
      ? never
      : Name
}[keyof M]

/** The yup schemas of the members that requests may have. */
type Written<M> = {
  [Name in keyof M as [FieldOf<M[Name]>] extends [never] ? never : Name]: FieldOf<M[Name]>
}

type FieldOf<R> = R extends
  | { write: infer Field extends yup.Schema }
  | { writeOnce: infer Field extends yup.Schema }
  | { writeOnly: infer Field extends yup.Schema }
  ? Field
  : never

/** The members of a resource in the order of responses, with their types and meanings. */
export class Representation<Source, Context, S extends Shape> {
  /** The schemas of an entry in lists, and of the full object. */
  readonly schema: Component
  readonly full: Component
  readonly shape: S
  readonly #rows: Rows<Source, Context>
  readonly #members: Getters<Source, Context>
  readonly #all: Getters<Source, Context>

  /** @param names of the schemas; both are the same if no member is shown in full only */
  constructor([name, fullName = name]: [string, string?], rows: Rows<Source, Context>) {
    this.#rows = rows
    const shown = Object.entries(rows).filter(([, row]) => !('writeOnly' in row))
    const usual = shown.filter(([, row]) => !('detail' in row || 'readOnce' in row))
    this.#members = getters(usual)
    this.#all = getters(shown)
    this.schema = { title: name, ...object(mapRows(usual, shownSchema)) }
    this.full = fullName === name ? this.schema : { title: fullName, ...object(mapRows(shown, shownSchema)) }
    this.shape = mapRows(Object.entries(rows), fieldOf) as S
  }

  /** Presents an object as lists show it. */
  present(source: Source, context: Context): Record<string, unknown> {
    return build(this.#members, source, context)
  }

  presentFull(source: Source, context: Context): Record<string, unknown> {
    return build(this.#all, source, context)
  }

  /** Reads the members of a request, like `readFields`. @throws Invalid */
  read(body: unknown): Values<S> & { problems: Problems } {
    return readFields(body, this.shape)
  }

  /** Reads a request like `read`, but throws the problems. @throws Invalid */
  readForm(body: unknown): Values<S> {
    return readForm(body, {}, this.shape)
  }

  /** Returns the schema of a request. @param required members, which depend on the method */
  input(title: string, required: (keyof S & string)[] = []): Component {
    return inputSchema(title, this.#rows, required)
  }
}

/**
 * Makes a representation of a source, whose values may also depend on the context. If a row's value has no source, the
 * result has the type of the row's name, so that the compiler rejects its use.
 */
export function representation<Source, Context = void>() {
  return function <M extends Rows<Source, Context>>(names: [string, string?], rows: M) {
    type Result = Representation<Source, Context, Written<M>>
    return new Representation(names, rows) as [Unsourced<Source, M>] extends [never] ? Result : Unsourced<Source, M>
  }
}

/** The members of a request that has no counterpart in responses. */
export class Form<R extends Shape, O extends Shape> {
  readonly schema: Component
  readonly #required: R
  readonly #optional: O

  constructor(schema: Component, required: R, optional: O) {
    this.schema = schema
    this.#required = required
    this.#optional = optional
  }

  /** @throws Invalid */
  read(body: unknown): Required<Values<R>> & Values<O> {
    return readForm(body, this.#required, this.#optional)
  }
}

type FormRows = Record<string, { write: yup.Schema; text: string; example?: unknown }>

export function form<R extends FormRows, O extends FormRows>(title: string, required: R, optional: O) {
  const schema = inputSchema(title, { ...required, ...optional }, Object.keys(required))
  const [must, may] = [required, optional].map((rows) => mapRows(Object.entries(rows), fieldOf))
  return new Form<Written<R>, Written<O>>(schema, must as Written<R>, may as Written<O>)
}

type Getters<Source, Context> = [name: string, get: (source: Source, context: Context) => unknown][]

function getters<Source, Context>(rows: [string, Row<Source, Context>][]): Getters<Source, Context> {
  return rows.map(([name, { from }]) => {
    const property = camelCase(name) as keyof Source
    return [name, from ?? ((source) => source[property])]
  })
}

function build<Source, Context>(members: Getters<Source, Context>, source: Source, context: Context) {
  const object: Record<string, unknown> = {}
  for (const [name, get] of members) object[name] = get(source, context)
  return object
}

type AnyRow = Row<never, never>

/** Applies `map` to each row, and leaves out those for which it has no result. */
function mapRows<R extends AnyRow, T>(rows: [string, R][], map: (row: R) => T | undefined): Record<string, T> {
  return Object.fromEntries(
    rows.flatMap(([name, row]) => {
      const mapped = map(row)
      return mapped === undefined ? [] : [[name, mapped]]
    }),
  )
}

function fieldOf(row: AnyRow): yup.Schema | undefined {
  if ('write' in row) return row.write
  if ('writeOnce' in row) return row.writeOnce
  return 'writeOnly' in row ? row.writeOnly : undefined
}

function shownSchema(row: AnyRow): JsonSchema {
  const { text, example } = row
  if ('read' in row) return described(row.read, text, example)
  if ('detail' in row) return described(row.detail, text, example)
  if ('readOnce' in row) return described(row.readOnce, `${text} No later response shows it.`, example)
  const { nullable: isNullable, meta } = fieldOf(row)!.spec
  const schema = meta!.shown!
  return described(isNullable ? nullable(schema) : schema, text, example)
}

/** Returns the schema of a request, which ignores other members. */
function inputSchema(title: string, rows: Record<string, AnyRow>, required: string[]): Component {
  const properties = mapRows(Object.entries(rows), (row) => {
    const field = fieldOf(row)
    return field && described(accepted(field), row.text, row.example)
  })
  return { title, type: 'object', properties, ...(required.length > 0 && { required }) }
}

function accepted({ spec: { nullable: isNullable, meta } }: yup.Schema): JsonSchema {
  const schema = named(meta!.accepted!)
  return isNullable ? nullable(schema) : schema
}
