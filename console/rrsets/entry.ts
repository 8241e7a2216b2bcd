import { nameOf } from '../../src/dns/names.ts'
import type { Rdata } from '../../src/dns/rdata.ts'
import { rrsetProblems } from '../../src/dns/rrset.ts'
import { checked, FIELDS, meant, type Question, recordOf, valuesOf } from './fields.ts'
import type { Place } from './rrset.ts'

/** A record that is being edited. */
export interface Entry {
  id: number
  type: string
  /** In presentation format. */
  text: string
  /** The values of its fields; undefined while it is edited as text. */
  values: string[] | undefined
}

/** Also beyond the entries that the tab has kept. */
let entries = Date.now()

/** A record to edit: in fields, if it can be shown in them. */
export function entryOf(type: string, text: string): Entry {
  const values = text === '' ? FIELDS[type]?.map(() => '') : valuesOf(type, text)
  return { id: ++entries, type, text, values }
}

/** The entries of another type: those that fit it, or a blank one. */
export function retyped(entries: Entry[], type: string, domain: string): Entry[] {
  const fitting = entries.filter((entry) => fits(entry, type, domain)).map(({ text }) => entryOf(type, text))
  return fitting.length > 0 ? fitting : [entryOf(type, '')]
}

/** Whether what was typed is a record of this type, too. */
export function fits({ text }: Entry, type: string, domain: string): boolean {
  return judge(entryOf(type, text), domain).rdata !== undefined
}

/** Whether nothing is typed. */
export function isBlank({ values, text }: Entry): boolean {
  return (values ?? [text]).every((value) => value.trim() === '')
}

/** The entry with another value of a field. */
export function withValue(entry: Entry, at: number, value: string): Entry {
  const values = entry.values!.with(at, value)
  return { ...entry, values, text: recordOf(entry.type, values) }
}

/** The entry with another text; it stays in fields if it was in them, and can be shown in them. */
export function withText(entry: Entry, text: string): Entry {
  return { ...entry, text, values: entry.values && valuesOf(entry.type, text) }
}

/** What an entry is: a record, or none. */
export interface Judgement {
  rdata?: Rdata
  /** The name without final dot of which the likeliest meaning was taken. */
  taken?: Question | undefined
  problem?: string
  /** The input that the problem is about, if there is one. */
  at?: number
  /** The record with the quotes that it lacks, if they make it right. */
  quoted?: string
}

/** Judges an entry. The service decides; this only tells early. */
export function judge(entry: Entry, domain: string): Judgement {
  const { type, values } = entry
  if (isBlank(entry)) return { problem: 'Fill this in, or remove it.', at: 0 }
  const { text, taken } = meant(type, entry.text, domain)
  const found = checked(type, text, taken === undefined ? values : values && valuesOf(type, text))
  return 'problem' in found ? { ...found, taken } : { rdata: found, taken }
}

/** The problems of an RRset as a whole; undefined while one of its records is none. */
export function wholeProblems({ subname, type }: Place, domain: string, judgements: Judgement[]): string[] | undefined {
  const rdata = judgements.flatMap((judgement) => judgement.rdata ?? [])
  if (rdata.length < judgements.length) return undefined
  if (rdata.length === 0) return ['Add a value, or delete the record set.']
  const name = nameOf({ name: domain }, subname)
  return rrsetProblems({ type, name, apex: subname === '', rdata })?.texts ?? []
}
