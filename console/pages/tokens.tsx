import { me } from '../api/me.ts'
import { listTokens, type Token } from '../api/tokens.ts'
import { useAsked } from '../kit/loading.tsx'
import { Managed } from '../tokens/token.tsx'
import { TokenCard } from '../tokens/token-card.tsx'

/** The account's tokens, with those of sign-ins. */
export function TokensPage() {
  const asked = useAsked(listTokens, [])
  return (
    <>
      <div class="head">
        <h1 tabIndex={-1}>Tokens</h1>
        <div class="rest" hidden={!me.value!.token.perm_manage_tokens}>
          <a class="button main" href="tokens/new">
            Create a token
          </a>
        </div>
      </div>
      <p class="quiet">
        Programs use the API with tokens. Give each program a token of its own, which may do only what it needs.
      </p>
      <Managed asked={asked}>{(tokens) => <Lists tokens={tokens} />}</Managed>
    </>
  )
}

function Lists({ tokens }: { tokens: Token[] }) {
  const signIns = tokens.filter(({ mfa }) => mfa !== null)
  const others = tokens.filter(({ mfa }) => mfa === null)
  return (
    <>
      <h2>Programs</h2>
      {others.length === 0 ? <p>No tokens yet. Create one for each program.</p> : <Cards tokens={others} />}
      {signIns.length > 0 && (
        <>
          <h2>Sign-ins</h2>
          <p class="quiet">Whoever signs in with the password uses one of these. Delete it to end the session.</p>
          <Cards tokens={signIns} />
        </>
      )}
    </>
  )
}

function Cards({ tokens }: { tokens: Token[] }) {
  return (
    <ul class="cards">
      {tokens.map((token) => (
        <TokenCard key={token.id} token={token} />
      ))}
    </ul>
  )
}
