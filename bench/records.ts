import { Malformed, parseRdata } from '../src/dns/rdata.ts'
import { MAX_RECORDS, MAX_RECORDS_JSON } from '../src/dns/rrset.ts'
import { TYPES } from '../src/dns/types.ts'
import { EXAMPLES } from '../test/dns/examples/index.ts'
import { state } from './support/measure.ts'

const SIZE = 65_536
const RUNS = 5
/** The number of slowest texts that are measured again, in both sizes. */
const SLOWEST = 30

/** Strings that are repeated to make a text of any length. */
const FILLERS = [
  '"', '""', '" "', '\\', '\\"', '\\\\', '\\000', '\\999', '0', '9', '0.', ' ', '\t', '.', 'a.', 'a', 'A ', '1 ', '-',
  '(', '()', ')', ',', 'a,', '1.2.3.4,', ',,', '\\,', '\\\\,', ';', '=', 'key9=', 'key9="a" ', 'no ', ':', '::', '/', '!',
  '1:0.0.0.0/0 ', '2:::/0 ', 'TYPE9 ', 'ff', 'f ', 'AAAA', 'A=', '==', 'ü', '\u{1f600}',
] // prettier-ignore

/** The cost of a record of the maximum length that is made to be slow, and of one twice as long. */
export async function records(): Promise<void> {
  const texts = [...TYPES.keys()].flatMap((type) =>
    frames(type).flatMap(([head, tail]) => FILLERS.map((filler) => ({ type, filler, head, tail }))),
  )
  const time = ({ type, filler, head, tail }: (typeof texts)[number], size: number): number => {
    const text = head + filler.repeat(Math.ceil(size / filler.length)) + tail
    const start = performance.now()
    attempt(type, text)
    return performance.now() - start
  }
  const slowest = texts
    .map((text) => ({ text, took: time(text, SIZE) }))
    .sort((one, other) => other.took - one.took)
    .slice(0, SLOWEST)
    .map(({ text }) => ({ text, single: fastest(() => time(text, SIZE)), double: fastest(() => time(text, 2 * SIZE)) }))
    .sort((one, other) => other.single - one.single)
  const [worst] = slowest
  const growth = slowest.map(({ single, double }) => double / single).sort((one, other) => other - one)
  state(`64 KiB in one record, the slowest of ${texts.length}`, `${worst!.single.toFixed(1)} ms`)
  state(`  that is ${worst!.text.type}, filled with ${JSON.stringify(worst!.text.filler)}`, '')
  state(`128 KiB, ratio, the highest of ${SLOWEST}`, growth[0]!.toFixed(2))
  recordSets()
  return Promise.resolve()
}

/** The cost of as many records in one RRset as fit, of the slowest example of all types; they are read one by one. */
function recordSets(): void {
  const times = [...EXAMPLES].flatMap(([type, { accepted }]) =>
    accepted.map((example) => {
      const text = typeof example === 'string' ? example : example[0]
      const count = Math.min(MAX_RECORDS, Math.floor(MAX_RECORDS_JSON / (JSON.stringify(text).length + 1)))
      const took = fastest(() => {
        const start = performance.now()
        for (let i = 0; i < count; i++) attempt(type, text)
        return performance.now() - start
      })
      return { type, text, took }
    }),
  )
  const { type, text, took } = times.reduce((slowest, each) => (each.took > slowest.took ? each : slowest))
  state('the largest RRset of the slowest example', `${took.toFixed(1)} ms`)
  state(`  that is ${type} ${text.slice(0, 40)}`, '')
}

/** The text around the filler: nothing, a whole record, or one without its last field; each with and without quotes. */
function frames(type: string): [head: string, tail: string][] {
  const [example] = EXAMPLES.get(type)!.accepted
  const whole = typeof example === 'string' ? example : example![1]
  const heads = ['', `${whole} `, whole.slice(0, whole.lastIndexOf(' ') + 1)]
  if (type === 'SVCB' || type === 'HTTPS') {
    heads.push(...['alpn', 'port', 'mandatory', 'ipv4hint', 'ipv6hint', 'ech', 'key9'].map((key) => `1 . ${key}=`))
  }
  return [...new Set(heads)].flatMap((head): [string, string][] => [
    [head, ''],
    [`${head}"`, '"'],
  ])
}

function attempt(type: string, text: string): void {
  try {
    parseRdata(type, text)
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
  }
}

function fastest(run: () => number): number {
  return Math.min(...Array.from({ length: RUNS }, run))
}
