import type { OwnToken } from '../api/me.ts'
import { inReadingOrder, sentenceOf } from './policies.ts'
import { limitsOf, roleLimits } from './rights.ts'

/** Says on every page what the token of the session may do, unless it may do everything. */
export function Limits({ own: { token, policies, membership } }: { own: OwnToken }) {
  const limits = membership === null ? limitsOf(token, policies) : roleLimits(membership)
  if (limits === undefined) return null
  return (
    <div class="note" role="note">
      <p>{limits}</p>
      {policies.some((policy) => policy.perm_write) && !policies.every((policy) => policy.perm_write) && (
        <details>
          <summary>Which records</summary>
          <ul>
            {inReadingOrder(policies).map((policy) => (
              <li key={policy.id}>{sentenceOf(policy, policies.length === 1)}</li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}
