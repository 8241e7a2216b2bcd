import { generateKeyPairSync } from 'node:crypto'
import { audit } from '../../src/service/repair/audit.ts'
import { delegationsOf } from '../../src/service/secrets/signing-keys.ts'
import { query } from '../../src/store/database.ts'
import { all, type Phase } from '../../src/store/domains/rollovers.ts'
import { domainOf, newDomain, newRRset, succeeded } from '../support/clients/api.ts'
import { verifyTransfer } from '../support/dns/dns.ts'
import { query as ask, rrsetsOf } from '../support/dns/wire.ts'
import { useService } from '../support/harness.ts'
import { Random } from '../support/random.ts'
import { enter } from '../support/rollovers/steps.ts'
import { test } from '../support/serial.ts'

// Contract §§8.9, 15.10: whatever the phase of a rollover is, and in whatever order the owner adds and removes records of
// other signers, DNS has these and those of the service.

const service = useService()
const random = new Random()

const TYPES = ['DNSKEY', 'CDS', 'CDNSKEY'] as const
type Type = (typeof TYPES)[number]
type Keys = 'old' | 'new' | 'both'

/** The phases, with the keys in the zone, and those that the parent shall have. */
const PHASES: [phase: Phase | undefined, published: Keys, announced: Keys][] = [
  ['sign', 'old', 'old'],
  ['publish', 'both', 'old'],
  ['await-ds', 'both', 'new'],
  ['await-ds-ttl', 'both', 'new'],
  ['unpublish', 'new', 'new'],
  [undefined, 'new', 'new'],
]

const ORDERS: Type[][] = TYPES.flatMap((first) => {
  const [second, third] = TYPES.filter((type) => type !== first) as [Type, Type]
  return [[first, second, third], [first, third, second]]
}) // prettier-ignore

/** A DNSKEY of another signer (RFC 6605 §4). */
function newKey(): string {
  const { x, y } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
  return `257 3 13 ${Buffer.concat([Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')]).toString('base64')}`
}

/** What DNS has at the apex. */
async function served(name: string): Promise<Record<Type, string[]>> {
  const contents = async (type: Type) => {
    const { answers } = await ask(service().powerDns, name, type)
    return rrsetsOf(answers).flatMap((rrset) => (rrset.type === type ? rrset.records : [])).sort()
  }
  const [DNSKEY, CDS, CDNSKEY] = await Promise.all([contents('DNSKEY'), contents('CDS'), contents('CDNSKEY')])
  return { DNSKEY, CDS, CDNSKEY }
} // prettier-ignore

/** Takes the rollover of a domain to a phase; undefined: to its end. */
async function goTo(name: string, phase: Phase | undefined): Promise<void> {
  const { system } = service()
  // Otherwise it would not wait for DS that no parent had.
  await query(system.db, 'update rollovers set ttl = 86400', {})
  await enter(service(), name, phase)
}

test('records of other signers are served beside those of the service in all phases', async (t) => {
  const { api } = await service().account()
  const name = await newDomain(api)
  const dnskey = newKey()
  const foreign = { DNSKEY: [dnskey], CDS: delegationsOf(name, dnskey), CDNSKEY: [dnskey] }
  const [old] = (await domainOf(api, name)).keys
  succeeded(await api.post(`/domains/${name}/rollover/`, { algorithm: 'ed25519' }), 201)
  const { incoming } = (await all(service().system.db)).find((each) => each.name === name)!
  const keys = { old: [old!.dnskey], new: incoming, both: [old!.dnskey, ...incoming] }
  const added = new Set<Type>()
  const path = (type: Type) => `/domains/${name}/rrsets/@/${type}/`
  const change = async (type: Type) => {
    if (added.delete(type)) succeeded(await api.delete(path(type)), 204)
    else {
      await newRRset(api, name, { subname: '', type, records: foreign[type] })
      added.add(type)
    }
  }

  for (const [phase, published, announced] of PHASES) {
    const own = {
      DNSKEY: keys[published],
      CDS: keys[announced].flatMap((key) => delegationsOf(name, key)),
      CDNSKEY: keys[announced],
    }
    const isRight = async (what: string) => {
      const expected = TYPES.map((type) => [type, [...own[type], ...(added.has(type) ? foreign[type] : [])].sort()])
      t.deepEqual(await served(name), Object.fromEntries(expected), `${phase}: ${what}`)
    }
    // Those that are there from the phase before stay.
    if (phase !== 'sign') await goTo(name, phase)
    await isRight(`with ${[...added].join()}`)
    for (const order of ORDERS) {
      // Each is added and removed, or removed and added.
      for (const type of [...order, ...order]) {
        await change(type)
        await isRight(`${order.join()}, ${type}`)
      }
    }
    await verifyTransfer(service().powerDns, name, delegationsOf(name, keys[announced][0]!))
    if (added.has('CDS')) await change('CDS')
    await newRRset(api, name, { subname: '', type: 'CDS', records: ['0 0 0 00'] })
    t.like(await served(name), { CDS: ['0 0 0 00'], CDNSKEY: [] }, `${phase}: the wish to remove the DS`)
    succeeded(await api.delete(path('CDS')), 204)
    for (const type of TYPES) if (random.below(2) === 0) await change(type)
    await isRight('before the next phase')
  }
  t.deepEqual((await api.get(`/domains/${name}/rollover/`)).status, 404)
  t.deepEqual(await audit(service().system, () => true), [])
})
