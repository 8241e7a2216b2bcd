import type { ComponentChildren } from 'preact'
import { Refused } from '../api/client.ts'
import { me } from '../api/me.ts'
import type { StoredPolicy, Token } from '../api/tokens.ts'
import { type Ageing, expiryOf } from '../kit/durations.ts'
import { type Asked, Loaded } from '../kit/loading.tsx'
import { Time } from '../kit/time.tsx'
import { inReadingOrder, type Policy, sentenceOf } from './policies.ts'

/** What people call a token. */
export function tokenName({ name, mfa }: Pick<Token, 'name' | 'mfa'>): string {
  if (name !== '') return name
  return mfa === null ? 'Token without a name' : 'Sign-in'
}

/** Reports whether this is the token of the session. */
export function isPresent({ id }: Pick<Token, 'id'>): boolean {
  return id === me.value!.token.id
}

/** Why somebody cannot see or make tokens. */
export const MAY_NOT_MANAGE =
  'The token that you signed in with may not manage tokens. Sign in with your password, or with a token that may.'

/** Shows what was asked of the API about tokens, or says that the present token may not manage them. */
export function Managed<T>({ asked, children }: { asked: Asked<T>; children: (value: T) => ComponentChildren }) {
  const isDenied = asked.problem?.status === 403
  const problem = isDenied ? new Refused(403, { detail: MAY_NOT_MANAGE }) : asked.problem
  return <Loaded asked={{ ...asked, problem }}>{children}</Loaded>
}

/** When a token expires, or that it never does; a question mark if its durations are none. */
export function Expiry({ token }: { token: Ageing }) {
  const expiry = expiryOf(token)
  if (expiry === undefined) return 'Never'
  if (Number.isNaN(expiry.at.getTime())) return '?'
  const time = <Time at={expiry.at.toISOString()} />
  if (expiry.at.getTime() < Date.now()) return <span class="problem">Expired on {time}</span>
  return expiry.isPutOffByUse ? <>{time}, unless it is used before</> : time
}

const EVERYWHERE = ['0.0.0.0/0', '::/0']

/** Whether every address may use a token. */
export function isUsedEverywhere({ allowed_subnets: networks }: Pick<Token, 'allowed_subnets'>): boolean {
  return EVERYWHERE.every((network) => networks.includes(network))
}

interface PoliciesProps<P extends Policy> {
  policies: P[]
  /** What stands beside the sentence of a policy. */
  beside?: (policy: P, sentence: string) => ComponentChildren
}

/** What a token may write, in sentences. */
export function Policies<P extends Policy = StoredPolicy>({ policies, beside }: PoliciesProps<P>) {
  if (policies.length === 0) return <p>May write everything: it has no policies.</p>
  return (
    <ul class="policies">
      {inReadingOrder(policies).map((policy) => {
        const sentence = sentenceOf(policy, policies.length === 1)
        return (
          <li key={sentence}>
            <span>{sentence}</span> {beside?.(policy, sentence)}
          </li>
        )
      })}
    </ul>
  )
}
