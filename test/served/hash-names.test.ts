import test from 'ava'
import { NSEC3 } from '../../src/nameserver/nameserver.ts'
import { nsec3Label } from '../../src/nameserver/powerdns/nsec3.ts'
import { verifyTransfer } from '../support/dns/dns.ts'
import { validateByBoth } from '../support/dns/validators.ts'
import { isConsistent, type Question, Zone } from '../support/dns/zone.ts'
import { useService } from '../support/harness.ts'

// Names of 32 characters of base32hex, as some verification records have, in zones with NSEC3 (powerdns.md §1.5).

const service = useService({ THROTTLE: 'off' })

const MD5 = 'd41d8cd98f00b204e9800998ecf8427e'
const HIGH = 'v0v1v2v3v4v5v6v7v8v9vavbvcvdvevf'
const PROVEN = 'negative response, fully validated'

/** RRsets of all kinds that a denial depends on. */
async function newZone(name: string): Promise<Zone> {
  const zone = await Zone.create(service(), (await service().account()).api, name)
  for (const subname of ['api', 'b.ent', '*.wild']) await zone.put(subname, 'A', ['192.0.2.1'])
  for (const subname of ['unsigned', 'signed']) await zone.put(subname, 'NS', ['ns.example.'])
  await zone.put('signed', 'DS', [`1 13 2 ${'ab'.repeat(32)}`])
  return zone
}

const ASKED = [
  '@ NS', '@ TXT', 'api A', 'api TXT', 'x.api A', 'ent A', 'b.ent A', 'a.ent A', 'wild A', 'x.wild A', 'x.wild TXT',
  'unsigned DS', 'signed DS', 'missing A', 'x.missing A', `${MD5} TXT`, `${MD5} A`, `x.${MD5} A`, `${HIGH} TXT`,
  `${HIGH} A`, `x.${HIGH} TXT`, `x.${HIGH} A`, `y.${HIGH} A`, `y.${HIGH} TXT`, `a${MD5.slice(1)} A`,
] // prettier-ignore

test.serial(
  'names like hashes do not disturb any answer, denial or transfer, while they exist and afterwards',
  async (t) => {
    const zone = await newZone('harmless.test')
    const questions = ASKED.map((question): Question => {
      const [subname, type] = question.split(' ') as [string, string]
      return [zone.at(subname === '@' ? '' : subname), type]
    })
    const isRight = async () => {
      await zone.answers(t, questions)
      await zone.validates(t, questions)
      await t.notThrowsAsync(verifyTransfer(service().powerDns, zone.name, zone.ds))
    }
    const names = [MD5, `x.${HIGH}`, `*.${HIGH}`]
    for (const subname of names) await zone.put(subname, 'TXT', ['"x"'])
    await isRight()
    await zone.put('later', 'A', ['192.0.2.1'])
    await service().powerDns.stop()
    await service().restartPowerDns()
    await isRight()
    for (const subname of names) await zone.remove(subname, 'TXT')
    await isRight()
  },
)

test.serial('a label that was chosen as the hash of the wildcard spoils denials, if the API refuses it', async (t) => {
  const { system, powerDns } = service()
  const zone = await newZone('damaged.test')
  const label = nsec3Label(zone.at('*'))
  // One NSEC3 record may deny both the name and the wildcard, but hardly for each of these names.
  const missing = Array.from({ length: 10 }, (_, i) => zone.at(`missing${i}`))
  const verdicts = () => Promise.all(missing.map((name) => validateByBoth(powerDns, zone.name, zone.ds, name, 'A')))
  await zone.put(label, 'TXT', ['"x"'])
  const isRefused = system.nameserver.labelProblem(label, NSEC3) !== undefined
  const spoilt = (await verdicts()).filter((verdict) => verdict !== PROVEN)
  t.is(spoilt.length > 0, isRefused, spoilt.join('\n'))
  await zone.remove(label, 'TXT')
  for (const verdict of await verdicts()) t.is(verdict, PROVEN)
})

test.serial('at the end no mark remains, and DNS equals the database, serials included', async (t) => {
  await isConsistent(t, service())
})
