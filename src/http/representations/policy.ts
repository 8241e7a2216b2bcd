import type { PolicyInput, StoredPolicy } from '../../service/tokens/token-policies.ts'
import { boolean, nonBlankText, readFields, text } from './fields.ts'

/** `null` matches anything. So does `""` as a domain, because no domain has an empty name. */
const shape = {
  domain: text({ trim: true, otherwise: 'Invalid value.' }).nullable(),
  subname: text({ trim: true }).nullable(),
  type: nonBlankText({ trim: true }).nullable(),
  perm_write: boolean(),
}

/** Reads a policy (contract §6.1). */
export function readPolicy(body: unknown): PolicyInput {
  const { domain, subname, type, perm_write: permWrite, problems } = readFields(body, shape)
  return { domain: domain === '' ? null : domain, subname, type, permWrite, problems }
}

export function presentPolicy({ id, domain, subname, type, permWrite }: StoredPolicy) {
  return { id, domain, subname, type, perm_write: permWrite }
}
