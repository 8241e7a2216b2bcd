import test, { type ExecutionContext } from 'ava'
import { isConsistent } from '../../support/dns/zone.ts'
import type { TestService } from '../../support/harness.ts'
import { apiAndDnsAgree } from '../../served/checks/agreement.ts'
import { contentsAreServed } from '../../served/checks/contents.ts'
import { compareToModel } from '../../served/checks/models.ts'
import { recreate } from '../../served/checks/recreation.ts'
import { changeAtRandom } from '../../served/checks/sequences.ts'
import { useTwoProcesses } from '../../served/checks/two-processes.ts'
import { domainsShowAtOnce, writesShowAtOnce } from '../../served/checks/visibility.ts'
import { writeSideBySide } from '../../served/checks/writers.ts'

// The checks of test/served, with greater numbers.

const { service, clients } = useTwoProcesses()
/** AGREEMENT_RECORDS=100000 npm test -- build/test/deep/full/served.test.js --match='random records*' */
const AGREEMENT_RECORDS = Number(process.env['AGREEMENT_RECORDS'] ?? 6_000)
const SIXTEEN = Array.from({ length: 16 }, (_, i) => `z${i}.test`)

const CHECKS: [sentence: string, check: (t: ExecutionContext, service: TestService) => Promise<void>][] = [
  [
    'answers and denials of a small zone are correct and validate after every change',
    (t, service) => changeAtRandom(t, service, { zone: 'small.test', size: 0, steps: 250, validated: 4 }),
  ],
  [
    'the same holds for 2,000 RRsets, which are not rectified when only contents change',
    (t, service) => changeAtRandom(t, service, { zone: 'large.test', size: 2_000, steps: 150, validated: 4 }),
  ],
  [
    'the same holds for a zone that grows and shrinks across the limit between small and large',
    (t, service) => changeAtRandom(t, service, { zone: 'between.test', size: 190, steps: 150, validated: 4 }),
  ],
  [
    'a write is visible in DNS when its response arrives, denials included',
    (t, service) => writesShowAtOnce(t, service, 'seen.test', 600),
  ],
  [
    'a new domain is served, and a deleted one no longer, when the response arrives',
    (t, service) => domainsShowAtOnce(t, service, 'parent.test', 100),
  ],
  [
    '16 writers on one zone lose no update',
    async (t, service) => writeSideBySide(t, service, await clients(), ['one.test'], 500),
  ],
  [
    '16 writers on 16 zones lose no update',
    async (t, service) => writeSideBySide(t, service, await clients(), SIXTEEN, 500),
  ],
  [
    'a deleted domain can be created again at once, each time with a new key',
    (t, service) => recreate(t, service, 'again.test', { lives: 50, writes: 8 }),
  ],
  [
    'DNS serves, octet for octet, the records that the API shows',
    (t, service) => contentsAreServed(t, service, 'contents.no-random-name', 2_000),
  ],
  [
    'random records of every type are served as they were accepted',
    (t, service) => apiAndDnsAgree(t, service, AGREEMENT_RECORDS),
  ],
  [
    'answers to random requests, RRsets and DNS are what a model of the contract expects',
    async (t, service) => compareToModel(t, service, await service.account(), 500),
  ],
]

for (const [sentence, check] of CHECKS) {
  test.serial(sentence, (t) => check(t, service()))
}

test.serial('at the end no mark remains, and DNS equals the database, serials included', async (t) => {
  await isConsistent(t, service())
})
