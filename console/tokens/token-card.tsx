import { useEffect, useRef, useState } from 'preact/hooks'
import { policiesOf, type Token } from '../api/tokens.ts'
import { expiryOf } from '../kit/durations.ts'
import { Loaded, useAsked } from '../kit/loading.tsx'
import { State } from '../kit/state.tsx'
import { Ago } from '../kit/time.tsx'
import { deedsOf } from './rights.ts'
import { isPresent, isUsedEverywhere, tokenName } from './token.tsx'

/** A token: what it may do, when it was last used, and until when it is valid. */
export function TokenCard({ token }: { token: Token }) {
  const card = useRef<HTMLLIElement>(null)
  const [isSeen, setSeen] = useState(false)
  // An account can have a thousand tokens: only those in sight ask for their policies.
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return
      setSeen(true)
      observer.disconnect()
    })
    observer.observe(card.current!)
    return () => {
      observer.disconnect()
    }
  }, [])
  const networks = token.allowed_subnets
  return (
    <li class="panel" ref={card}>
      <div class="head">
        <h3>
          <a href={`tokens/${token.id}`}>{tokenName(token)}</a>
        </h3>
        {isPresent(token) && <State mood="good">you are signed in with it</State>}
      </div>
      {token.mfa === null && isSeen && <Deeds token={token} />}
      <p class="facts">
        <span>{token.last_used === null ? 'Never used' : <>Used {<Ago at={token.last_used} />}</>}</span>
        <Validity token={token} />
        {!isUsedEverywhere(token) && (
          <span>{networks.length === 0 ? 'Cannot be used from anywhere' : `Only from ${networks.join(', ')}`}</span>
        )}
        {token.maker !== undefined && <span>Made by {token.maker}</span>}
        {token.user_override !== null && <span>Acts for {token.user_override}</span>}
      </p>
    </li>
  )
}

function Deeds({ token }: { token: Token }) {
  const asked = useAsked(() => policiesOf(token.id), [token.id])
  return <Loaded asked={asked}>{(policies) => <p>{deedsOf(token, policies)}</p>}</Loaded>
}

function Validity({ token }: { token: Token }) {
  const expiry = expiryOf(token)
  if (expiry === undefined) return <span>Never expires</span>
  const time = <Ago at={expiry.at.toISOString()} />
  if (expiry.at.getTime() < Date.now()) return <span class="problem">Expired {time}</span>
  return (
    <span>
      Expires {time}
      {expiry.isPutOffByUse && ', unless it is used before'}
    </span>
  )
}
