import { domainOf, newRRset, succeeded } from '../support/clients/api.ts'
import type { Server } from '../support/dns/dns.ts'
import { validateByBoth } from '../support/dns/validators.ts'
import { query, rrsetsOf } from '../support/dns/wire.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'
import { type ApexRecord, type Signer, startSigner } from '../support/rollovers/signer.ts'
import { follow, FORGOTTEN, SETTINGS, type Stage, startStage, WAITS, WARM } from '../support/rollovers/stage.ts'
import { passHour, published } from '../support/rollovers/steps.ts'
import { test } from '../support/serial.ts'
import { ownNetwork } from '../support/servers/ports.ts'

// Two providers sign a domain, each with its own key (RFC 8901, model 2), as docs/secure-domain.md says: this service, and
// a Knot. Resolvers ask either, so they have the DNSKEY of one with the answers of the other. Then the key here is replaced.

const service = useService(SETTINGS, undefined, WAITS)
const NAME = 'two-signers.example'
const PATH = `/domains/${NAME}/rollover/`
const HOSTS = ['ns1.zoneplane.test', 'ns1.knot.test']
const TYPES = ['DNSKEY', 'CDS', 'CDNSKEY'] as const

let stage: Stage
let signer: Signer

test.after.always(async () => {
  await (signer as Signer | undefined)?.kill()
  await (stage as Stage | undefined)?.close()
})

async function contentsAt(server: Server, type: string): Promise<string[]> {
  const { answers } = await query(server, NAME, type)
  return rrsetsOf(answers).flatMap((rrset) => (rrset.type === type ? rrset.records : []))
}

/** The DNSKEY, CDS and CDNSKEY records at the apex, sorted. */
async function apexOf(server: Server): Promise<ApexRecord[]> {
  const found = await Promise.all(TYPES.map((type) => contentsAt(server, type)))
  return TYPES.flatMap((type, i) => found[i]!.map((content): ApexRecord => [type, content]))
}

/** The records that some have and others have not. */
function beyond(some: ApexRecord[], others: ApexRecord[]): ApexRecord[] {
  return some.filter(([type, content]) => !others.some((other) => other[0] === type && other[1] === content))
}

/** What the parent looks at. */
function announcements(records: ApexRecord[]): ApexRecord[] {
  return records.filter(([type]) => type !== 'DNSKEY')
}

test('two providers sign a domain, and one of them replaces its key', async (t) => {
  const { powerDns } = service()
  const { api } = await service().account()
  const second = { dnsHost: `${ownNetwork()}1`, dnsPort: powerDns.dnsPort }
  stage = await startStage([powerDns, second], [NAME])
  stage.place(service().system)
  await stage.addDomain(api, NAME)
  const records = HOSTS.map((host) => `${host}.`)
  succeeded(await api.patch(`/domains/${NAME}/rrsets/@/NS/`, { records }), 200)
  const zonefile = succeeded(await api.get(`/domains/${NAME}/zonefile/`), 200).text
  signer = await startSigner(second, NAME, zonefile, WAITS.dnskeyTtl)

  // Each provider gets the records of the other. All keys have DS of the same digest types.
  const ours = await apexOf(powerDns)
  const dnskey = await contentsAt(signer, 'DNSKEY')
  const add = (type: string, records: string[]) =>
    newRRset(api, NAME, { subname: '', type, ttl: WAITS.dnskeyTtl, records })
  await add('DNSKEY', dnskey)
  const { ds: cds } = (await domainOf(api, NAME)).keys.find(({ managed }) => !managed)!
  await add('CDS', cds)
  await add('CDNSKEY', dnskey)
  const both = await apexOf(powerDns)
  const theirs = beyond(both, ours)
  t.is(theirs.length, 4)
  await signer.change({ add: beyond(both, await apexOf(signer)) })
  t.deepEqual(await apexOf(signer), both)
  const ds = await contentsAt(powerDns, 'CDS')
  await stage.parent.delegate(NAME, ds, HOSTS)
  const watch = stage.watch(NAME)
  await watch.last(WARM)
  for (const server of [powerDns, signer]) {
    t.is(await validateByBoth(server, NAME, ds, `www.${NAME}`, 'A'), 'fully validated')
    t.is(await validateByBoth(server, NAME, ds, `absent.${NAME}`, 'A'), 'negative response, fully validated')
    for (const type of TYPES) t.is(await validateByBoth(server, NAME, ds, NAME, type), 'fully validated', type)
  }

  const former = await domainOf(api, NAME)
  let isVouchedFor = false
  succeeded(await api.post(PATH), 201)
  const seen = await follow(api, NAME, async ({ phase, waits_for }, isNew) => {
    watch.phase = phase
    t.deepEqual(beyond(theirs, await apexOf(powerDns)), [], phase)
    if (waits_for === 'signers') {
      isVouchedFor = true
      for (let hours = 3; hours > 0; hours--) await passHour(service(), NAME)
      t.like(succeeded(await api.get(PATH), 200).json, { phase: 'publish', waits_for: 'signers' })
      const { keys } = await domainOf(api, NAME)
      const [added] = keys.filter(({ dnskey }) => former.keys.every((key) => key.dnskey !== dnskey))
      await signer.change({ add: [['DNSKEY', added!.dnskey]] })
      t.deepEqual(await contentsAt(signer, 'DNSKEY'), await contentsAt(powerDns, 'DNSKEY'))
      succeeded(await api.post(`${PATH}confirm/`), 200)
    }
    if (phase === 'await-ds' && isNew) {
      await eventuallyIs(async () => announcements(beyond(await apexOf(powerDns), both)).length, 3)
      const [here, there] = [await apexOf(powerDns), await apexOf(signer)].map(announcements) as [
        ApexRecord[],
        ApexRecord[],
      ]
      await signer.change({ add: beyond(here, there), remove: beyond(there, here) })
      await stage.parent.delegate(NAME, await contentsAt(signer, 'CDS'), HOSTS)
    }
  })
  await published(service(), NAME)
  const replaced = await apexOf(powerDns)
  t.deepEqual(seen, ['publish', 'await-ds', 'await-ds-ttl'])
  t.true(isVouchedFor)
  t.is(replaced.length, both.length)
  t.deepEqual(beyond(theirs, replaced), [])
  watch.phase = 'the former key is still at the other provider'
  await watch.last(FORGOTTEN)
  await signer.change({ remove: beyond(await apexOf(signer), replaced) })
  watch.phase = 'after'
  await watch.last(FORGOTTEN)
  t.deepEqual(await apexOf(signer), replaced)
  t.deepEqual(await watch.stop(), [])
  t.true(watch.questions > 1_000)
  for (const server of [powerDns, signer]) {
    const trusted = stage.parent.dsOf(NAME)
    t.is(await validateByBoth(server, NAME, trusted, `www.${NAME}`, 'A'), 'fully validated')
  }
})
