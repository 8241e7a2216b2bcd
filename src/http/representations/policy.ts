import type { PolicyInput, StoredPolicy } from '../../service/tokens/token-policies.ts'
import { boolean, readFields, text } from './fields.ts'

/** `null` stands for any; so does `""` for a domain, which has no empty name. */
const shape = {
  domain: text({ trim: true, otherwise: 'Invalid value.' }).nullable(),
  subname: text({ trim: true }).nullable(),
  type: text({ trim: true })
    .nullable()
    .test('blank', 'This field may not be blank.', (value) => value !== ''),
  perm_write: boolean(),
}

/** What a body says about a policy (contract §6.1). */
export function readPolicy(body: unknown): PolicyInput {
  const { domain, subname, type, perm_write: permWrite, problems } = readFields(body, shape)
  return { domain: domain === '' ? null : domain, subname, type, permWrite, problems }
}

export function presentPolicy({ id, domain, subname, type, permWrite }: StoredPolicy) {
  return { id, domain, subname, type, perm_write: permWrite }
}
