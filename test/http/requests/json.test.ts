import test from 'ava'
import fc from 'fast-check'
import { parseJson } from '../../../src/http/json.ts'
import { atOnce } from '../../../src/slices.ts'

function attempt(work: () => unknown): unknown {
  try {
    return { value: work() }
  } catch (error) {
    if (error instanceof SyntaxError) return 'a syntax error'
    throw error
  }
}

const read = (text: string) => attempt(() => atOnce(parseJson(text, (item) => item)))

/** JSON, or nearly; strings with quotes, backslashes and brackets, so long that they are cut where batches are. */
const PIECE = fc.oneof(
  fc.constantFrom(
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '"',
    '\\',
    '\\"',
    '""',
    ' ',
    '\n',
    '1',
    'null',
    '"a":',
    '[]',
    '{}',
    '[1]',
  ),
  fc.constantFrom('"\\\\"', '"\\""', '"[,]"', '{"a":"]"}', `"${'x'.repeat(70_000)}"`, `"${'\\"'.repeat(40_000)}"`),
)
const NEARLY = fc.array(PIECE, { maxLength: 12 }).map((pieces) => pieces.join(''))
const VALID = fc.json({ maxDepth: 4 }).chain((text) => fc.constantFrom(text, ` [ ${text} , ${text} ]\n`))

test('it reads what JSON.parse reads, and nothing else', (t) => {
  t.notThrows(() => {
    fc.assert(
      fc.property(
        fc.oneof(
          NEARLY,
          NEARLY.map((text) => `[${text}]`),
          VALID,
        ),
        (text) => {
          t.deepEqual(
            read(text),
            attempt(() => JSON.parse(text)),
            text.slice(0, 1000),
          )
        },
      ),
      { numRuns: 5_000 },
    )
  })
})

test('an item has 65,536 values at most, an array any number of items', (t) => {
  const list = (count: number, item: string) => `[${Array<string>(count).fill(item).join()}]`
  t.is((atOnce(parseJson(list(100_000, '[1,2]'), (item) => item)) as unknown[]).length, 100_000)
  t.not(read(`[0,${list(65_536, '1')}]`), 'a syntax error')
  t.is(read(`[0,${list(65_537, '1')}]`), 'a syntax error')
})
