import { useEffect } from 'preact/hooks'
import { hasNewRole, me } from '../api/me.ts'
import { actFor, actForOneself, keepMemberships, type Membership, memberships } from '../api/members.ts'
import { backToOwn, lost, session } from '../api/session.ts'
import { hasDrafts } from '../kept.ts'
import { type Action, Refusal, useAction } from '../kit/form.tsx'
import { location } from '../router.ts'

/** For whom one acts, and the way to act for others. */
export function Acting() {
  const action = useAction()
  const { account, token, membership } = me.value!
  const { path } = location.value
  useEffect(() => {
    // Without them, one acts for the account of the session.
    keepMemberships().catch(() => undefined)
  }, [path, account.email])
  const others = memberships.value ?? []
  const who = (
    <span class="who" title={account.email}>
      {account.email}
      {membership !== null && `, as ${membership.role}`}
    </span>
  )
  if (others.length === 0 && membership === null) return who
  return (
    <details class="acting">
      <summary>{who}</summary>
      <ul aria-label="Act for">
        <Choice text={token.owner} note="Your own account" isChosen={membership === null} action={action}
          work={async () => { actForOneself(); }} />
        {others.map((other) => (
          <Choice key={other.id} text={other.account} note={roleIn(other)} isChosen={other.id === membership?.id}
            action={action} work={() => actFor(other)} />
        ))}
      </ul>
      <Refusal of={action} />
    </details>
  ) // prettier-ignore
}

function roleIn({ role, domains }: Membership): string {
  return `As ${role}${domains === null ? '' : `, ${domains.length} of its domains`}`
}

interface ChoiceProps {
  text: string
  note: string
  isChosen: boolean
  action: Action
  work: () => Promise<void>
}

function Choice({ text, note, isChosen, action, work }: ChoiceProps) {
  return (
    <li>
      <button
        class="plain"
        disabled={action.isBusy || isChosen}
        aria-current={isChosen}
        onClick={() => {
          action.run(work)
        }}
      >
        <b>{text}</b> <span class="quiet">{note}</span>
      </button>
    </li>
  )
}

/** Says that one's role for the account is another one now. */
export function NewRole() {
  const { account, membership } = me.value!
  return (
    <div class="alert" role="alert">
      <p>
        Your role for {account.email} has changed: you are {membership?.role} now.{' '}
        {hasDrafts(account.email) &&
          'What you have staged stays here. If you may not apply it any more, ask an admin of the account to do so.'}
      </p>
      <button
        onClick={() => {
          hasNewRole.value = false
        }}
      >
        Close
      </button>
    </div>
  )
}

/** Says that one cannot act for an account any more. */
export function Lost() {
  const account = lost.value!
  const isStill = session.value?.acting?.account === account
  return (
    <div class="alert" role="alert">
      <p>
        You do not act for {account} any more: you are no longer a member, or the log-in has ended.{' '}
        {isStill ? 'What you have staged is shown until you go.' : 'This is your own account.'}
      </p>
      <button
        onClick={() => {
          if (isStill) backToOwn()
          lost.value = undefined
        }}
      >
        {isStill ? 'Go to your own account' : 'Close'}
      </button>
    </div>
  )
}
