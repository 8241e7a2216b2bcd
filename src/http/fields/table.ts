import type * as yup from 'yup'
import { type CamelCase, camelCase, readFields, readForm } from './fields.ts'
import { type Component, described, type JsonSchema, named, nullable, object } from './schema.ts'

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
  /** True if responses lack the member when its value is undefined, null or false. */
  isOptional?: true
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

/**
 * Makes a representation: the members of a resource in the order of responses, with their types and meanings. Their
 * values come from the source, and may also depend on the context. If a row's value has no source, the result has the
 * type of the row's name, so that the compiler rejects its use.
 */
export function representation<Source, Context = void>() {
  /** @param names of the schemas; both are the same if no member is shown in full only */
  return function <M extends Rows<Source, Context>>([name, fullName = name]: [string, string?], rows: M) {
    const shown = Object.entries(rows).filter(([, row]) => !('writeOnly' in row))
    const usual = shown.filter(([, row]) => !('detail' in row || 'readOnce' in row))
    const optional = shown.filter(([, { isOptional }]) => isOptional).map(([member]) => member)
    const schema: Component = { title: name, ...object(mapRows(usual, shownSchema), optional) }
    const shape = mapRows(Object.entries(rows), fieldOf) as Written<M>
    const result = {
      /** The schemas of an entry in lists, and of the full object. */
      schema,
      full: fullName === name ? schema : { title: fullName, ...object(mapRows(shown, shownSchema), optional) },
      shape,
      /** Presents an object as lists show it. */
      present: presenter(usual),
      presentFull: presenter(shown),
      /** Reads the members of a request, like `readFields`. @throws Invalid */
      read: (body: unknown) => readFields(body, shape),
      /** Reads a request like `read`, but throws the problems. @throws Invalid, also if a required member is missing */
      readForm: <N extends keyof Written<M> = never>(body: unknown, required: N[] = []) =>
        readForm(body, shape, required),
      /** Returns the schema of a request. @param required members, which depend on the method */
      input: (title: string, required: (keyof Written<M> & string)[] = []) => inputSchema(title, rows, required),
    }
    return result as [Unsourced<Source, M>] extends [never] ? typeof result : Unsourced<Source, M>
  }
}

type FormRows = Record<string, { write: yup.Schema; text: string; example?: unknown }>

/** Makes the members of a request that has no counterpart in responses. */
export function form<R extends FormRows, N extends keyof R & string>(title: string, required: N[], rows: R) {
  const shape = mapRows(Object.entries(rows), fieldOf) as { [Name in keyof R]: R[Name]['write'] }
  return {
    schema: inputSchema(title, rows, required),
    /** @throws Invalid */
    read: (body: unknown) => readForm(body, shape, required),
  }
}

/** Returns a function that presents an object with the members of these rows. */
function presenter<Source, Context>(rows: [string, Row<Source, Context>][]) {
  const members = rows.map(([name, { from, isOptional }]) => {
    const property = camelCase(name) as keyof Source
    return { name, get: from ?? ((source: Source) => source[property]), isOptional }
  })
  return (source: Source, context: Context): Record<string, unknown> => {
    const object: Record<string, unknown> = {}
    for (const { name, get, isOptional } of members) {
      const value = get(source, context)
      if (!isOptional || (value !== null && value !== false)) object[name] = value
    }
    return object
  }
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
