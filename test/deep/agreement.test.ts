import test from 'ava'
import { apiAndDnsAgree } from '../served/checks/agreement.ts'
import { useService } from '../support/harness.ts'

const service = useService()

/** AGREEMENT_RECORDS=100000 npm test -- build/test/deep/agreement.test.js */
const records = Number(process.env['AGREEMENT_RECORDS'] ?? 6000)

test('random records of every type are served as they were accepted', async (t) => {
  t.timeout(60 * 60_000)
  await apiAndDnsAgree(t, service(), records)
})
