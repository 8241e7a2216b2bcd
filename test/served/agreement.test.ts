import test from 'ava'
import { useService } from '../support/harness.ts'
import { apiAndDnsAgree } from './checks/agreement.ts'

const service = useService()

test('random records of every type are served as they were accepted', async (t) => {
  await apiAndDnsAgree(t, service(), 600)
})
