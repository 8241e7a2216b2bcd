import { Readable } from 'node:stream'
import { setImmediate as others } from 'node:timers/promises'
import { SLICE } from './limits.ts'

/** Work over many items that pauses between them: pure, and whoever runs it decides what happens meanwhile. */
export type Work<T> = Generator<undefined, T>

/** Runs work in slices of SLICE milliseconds, and lets all else have its turn in between. */
export async function inSlices<T>(work: Work<T>): Promise<T> {
  for (;;) {
    const end = performance.now() + SLICE
    do {
      const { done, value } = work.next()
      if (done === true) return value
    } while (performance.now() < end)
    await others()
  }
}

/** Runs work to its end, at once. */
export function atOnce<T>(work: Work<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/** The same items, and all else has its turn after each: a stream alone may go on without any. */
export async function* paced<T>(items: Iterable<T>): AsyncGenerator<T> {
  for (const item of items) {
    yield item
    await others()
  }
}

/** As Array.map. */
export function* mapped<A, B>(items: Iterable<A>, turn: (item: A) => B): Work<B[]> {
  const all: B[] = []
  for (const item of items) {
    all.push(turn(item))
    yield
  }
  return all
}

/** An array, or what need not be held as one. */
export interface Sequence<T> extends Iterable<T> {
  readonly length: number
}

/** As Array.map, but each item is made when it is come to, every time. */
export function lazily<A, B>(items: A[], turn: (item: A) => B): Sequence<B> {
  return {
    length: items.length,
    *[Symbol.iterator]() {
      for (const item of items) yield turn(item)
    },
  }
}

/** So many characters or more of JSON are a piece, unless making them takes longer than a slice. */
const PIECE = 65_536

export interface JsonOptions {
  /** Of objects, those members that are written; all, if not given. */
  members?: string[]
  /** What else the text has. */
  before?: string
  after?: string
}

/** Pieces of the JSON text of an array; joined, they are that text. */
export function* jsonPieces(
  items: Iterable<unknown>,
  { members, before = '', after = '' }: JsonOptions = {},
): Generator<string> {
  let text = `${before}[`
  let separator = ''
  let last: unknown
  let written = ''
  let end = performance.now() + SLICE
  for (const item of items) {
    // Of many refused items the same is said.
    if (item !== last) [last, written] = [item, JSON.stringify(item, members)]
    text += separator + written
    separator = ','
    if (text.length < PIECE && performance.now() < end) continue
    yield text
    text = ''
    end = performance.now() + SLICE
  }
  yield `${text}]${after}`
}

/** The JSON text of an array; if it is of many megabytes, it is never there as a whole. */
export class JsonText {
  /** In octets. */
  readonly length: number
  readonly pieces: Iterable<string>

  constructor(length: number, pieces: Iterable<string>) {
    this.length = length
    this.pieces = pieces
  }

  /** To be sent. */
  get body(): string | Readable {
    const [only, ...more] = Array.isArray(this.pieces) ? (this.pieces as string[]) : []
    return only !== undefined && more.length === 0 ? only : Readable.from(paced(this.pieces), { highWaterMark: 1 })
  }
}

/** So many octets of JSON are held; what is longer is made twice, the first time to know its length. */
const HELD = 4 * 1024 * 1024

/** @param items are iterated again when the text is */
export async function jsonText(items: Iterable<unknown>, options?: JsonOptions): Promise<JsonText> {
  return inSlices(measured(items, options))
}

function* measured(items: Iterable<unknown>, options?: JsonOptions): Work<JsonText> {
  let length = 0
  let held: string[] | undefined = []
  for (const piece of jsonPieces(items, options)) {
    length += Buffer.byteLength(piece)
    if (length > HELD) held = undefined
    held?.push(piece)
    yield
  }
  return new JsonText(length, held ?? { [Symbol.iterator]: () => jsonPieces(items, options) })
}

/** The octets of the text. */
export function* octets({ length, pieces }: JsonText): Work<Buffer> {
  const all = Buffer.allocUnsafe(length)
  let at = 0
  for (const piece of pieces) {
    at += all.write(piece, at)
    yield
  }
  return all
}
