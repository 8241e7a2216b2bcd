import type { Member } from '../api/members.ts'
import { State } from '../kit/state.tsx'
import { Ago } from '../kit/time.tsx'
import { domainWords, ROLES } from '../tokens/rights.ts'

/** What one can do with a member. */
export type Deed = 'Change' | 'Remove'

const SOURCES = { invitation: '', operator: 'Added by the operator', group: 'By a group of single sign-on' }

/** A member or an invitation: what it may do, and since when. */
export function MemberCard({ member, onDeed }: { member: Member; onDeed: (deed: Deed) => void }) {
  const { email, role, domains, state, invited, last_active: active, source } = member
  const isInvited = state === 'invited'
  return (
    <li class="panel">
      <div class="head">
        <h2>{email}</h2>
        {isInvited && <State mood="wait">invited</State>}
      </div>
      <p>
        <b>{ROLES[role].title}.</b> {ROLES[role].text} Sees {domainWords(domains)}.
      </p>
      <p class="facts">
        <span>
          {isInvited ? 'Invited ' : active === null ? 'Has not acted yet' : 'Last active '}
          {(isInvited || active) && <Ago at={active ?? invited} />}
        </span>
        {SOURCES[source] && <span>{SOURCES[source]}</span>}
        {!isInvited && (
          <a href={`activity?person=${encodeURIComponent(email)}`} aria-label={`Activity of ${email}`}>
            Activity
          </a>
        )}
      </p>
      {source === 'group' ? (
        <p class="quiet">Its groups decide about this member.</p>
      ) : (
        <p class="buttons">
          {(['Change', 'Remove'] as const).map((deed) => (
            <button
              key={deed}
              class="small"
              aria-label={`${deed} ${email}`}
              onClick={() => {
                onDeed(deed)
              }}
            >
              {deed}
            </button>
          ))}
        </p>
      )}
    </li>
  )
}
