import type { ExecutionContext } from 'ava'
import { parseRdata } from '../../src/dns/rdata.ts'
import { TYPES } from '../../src/dns/types.ts'
import { EXAMPLES } from '../dns/examples/index.ts'
import { domainOf, newDomain, newRRset, shared, type ShownDomain } from '../support/clients/api.ts'
import type { Client } from '../support/clients/client.ts'
import { delv, validate } from '../support/dns/validators.ts'
import { contentOf, query } from '../support/dns/wire.ts'
import { useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'

// Validating resolvers believe every kind of answer, for the examples of every type.

const service = useService({ THROTTLE: 'off' })
const PROVEN = 'fully validated'
const DENIED = 'negative response, fully validated'

const zone = shared(async () => {
  const { api } = await service().account()
  return { api, zone: await domainOf(api, await newDomain(api, 'resolved.test')) }
})

/** A question, and the verdict that it must get. */
type Question = [name: string, type: string, verdict: string]

async function areBelieved(t: ExecutionContext, questions: Question[], validator = validate): Promise<void> {
  const { name: apex, keys } = (await zone()).zone
  const { ds } = keys[0]!
  const verdicts = await Promise.all(
    questions.map(([name, type]) => validator(service().powerDns, apex, ds, name, type)),
  )
  for (const [i, [name, type, verdict]] of questions.entries()) t.is(verdicts[i], verdict, `${name} ${type}`)
}

/** BIND's resolvers do not read these: fingerprints of another length than their hash has, and groups that are not there. */
const NOT_FOR_BIND: Record<string, RegExp> = {
  SSHFP: /^[0-9]+ (1 (?!.{40}$)|2 (?!.{64}$))/,
  NAPTR: / "!\^\\\\\+.*\\\\1.*!" /,
}

/** The examples of a type as RRsets: one, or one for each example. */
function examplesOf(type: string): string[][] {
  const different = new Map<string, string>()
  for (const example of EXAMPLES.get(type)!.accepted) {
    const [text, canonical] = typeof example === 'string' ? [example, example] : example
    if (!NOT_FOR_BIND[type]?.test(canonical)) different.set(parseRdata(type, text).key, text)
  }
  const texts = [...different.values()]
  return TYPES.get(type)!.single === true ? texts.map((text) => [text]) : [texts]
}

function writing({ api, zone }: { api: Client; zone: ShownDomain }) {
  return {
    put: (subname: string, type: string, records: string[]) => newRRset(api, zone.name, { subname, type, records }),
    at: (subname: string) => (subname === '' ? `${zone.name}.` : `${subname}.${zone.name}.`),
  }
}

for (const type of TYPES.keys()) {
  const isPath = ['CNAME', 'DNAME', 'NS'].includes(type)
  test(`${type}: answers are believed`, async (t) => {
    const { put, at } = writing(await zone())
    const questions: Question[] = []
    for (const [i, records] of examplesOf(type).entries()) {
      const subname = TYPES.get(type)!.apex === 'only' ? '' : `${type.toLowerCase()}${i}`
      await put(subname, type, records)
      // A delegation has no signed answer but that there is no DS.
      const own: Question = type === 'NS' ? [at(subname), 'DS', DENIED] : [at(subname), type, PROVEN]
      questions.push(own)
      if (i === 0) questions.push([own[0].toUpperCase(), own[1], own[2]])
    }
    await areBelieved(t, questions)
  })

  if (isPath || TYPES.get(type)!.apex === 'only') continue
  test(`${type}: denials and wildcards are believed`, async (t) => {
    const { put, at } = writing(await zone())
    const [subname, wild, other] = [
      `${type.toLowerCase()}0`,
      `wild-${type.toLowerCase()}`,
      type === 'TXT' ? 'A' : 'TXT',
    ]
    await put(`*.${wild}`, type, examplesOf(type)[0]!)
    await areBelieved(t, [
      [at(subname), other, DENIED],
      // BIND expects a delegation where it finds a DS.
      [at(type === 'DS' ? 'absent' : `absent.${subname}`), type, DENIED],
      [at(`any.${wild}`), type, PROVEN],
      [at(`Any.other.${wild}`), type, PROVEN],
      [at(`any.${wild}`), other, DENIED],
      [at(wild), type, DENIED],
    ])
  })
}

test('names below a DNAME: answers and denials are believed', async (t) => {
  const { put, at } = writing(await zone())
  await put('old', 'DNAME', [`New.${at('').toUpperCase()}`])
  await put('old', 'A', ['192.0.2.1'])
  await put('host.new', 'A', ['192.0.2.2'])
  await put('*.wild.new', 'A', ['192.0.2.3'])
  await put('alias.new', 'CNAME', [at('host.new')])
  await put('alias', 'CNAME', [at('host.old')])
  const questions: Question[] = [
    [at('old'), 'A', PROVEN],
    [at('old'), 'TXT', DENIED],
    [at('host.old'), 'A', PROVEN],
    [at('HOST.Old'), 'A', PROVEN],
    [at('alias.old'), 'A', PROVEN],
    [at('alias'), 'A', PROVEN],
    [at('any.wild.old'), 'A', PROVEN],
    // The DNAME itself is proven, and then the denial of the name that it leads to.
    [at('host.old'), 'TXT', PROVEN],
    [at('absent.old'), 'A', PROVEN],
  ]
  // Unbound refuses some of the orders that PowerDNS gives the records of such an answer (powerdns.md §1.1).
  await areBelieved(t, questions, delv)
  const { rcode, answers } = await query(service().powerDns, at('host.old'), 'A')
  t.is(rcode, 'NOERROR')
  t.true(answers.some((record) => record.type === 'A' && contentOf(record) === '192.0.2.2'))
  t.is((await query(service().powerDns, at('absent.old'), 'A')).rcode, 'NXDOMAIN')
})

test('delegations: their DS, its absence and names below are believed', async (t) => {
  const { put, at } = writing(await zone())
  const child = await newDomain((await zone()).api, `child.${(await zone()).zone.name}`)
  const { keys } = await domainOf((await zone()).api, child)
  await put('child', 'NS', ['Ns1.Zoneplane.TEST.'])
  await areBelieved(t, [
    [at('child'), 'DS', DENIED],
    [at('child'), 'SOA', 'unsigned answer'],
    [at('absent.child'), 'A', 'negative response, unsigned answer'],
  ])
  await put('child', 'DS', keys[0]!.ds)
  await areBelieved(t, [
    [at('child'), 'DS', PROVEN],
    [at('child'), 'SOA', PROVEN],
    [at('Absent.CHILD'), 'A', DENIED],
  ])
})
