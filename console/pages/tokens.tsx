import { me } from '../api/me.ts'
import { listTokens, type Token } from '../api/tokens.ts'
import { List } from '../parts/list.tsx'
import { useAsked } from '../parts/loading.tsx'
import { Time } from '../parts/time.tsx'
import { Expiry, isPresent, Managed, tokenName } from '../parts/token.tsx'

/** The account's tokens, with those of sign-ins. */
export function TokensPage() {
  const asked = useAsked(listTokens, [])
  return (
    <>
      <h1 tabIndex={-1}>Tokens</h1>
      <p>Programs use the API with tokens. Give each program a token of its own, which may do only what it needs.</p>
      <div class="tools" hidden={!me.value!.token.perm_manage_tokens}>
        <a class="button main" href="tokens/new">
          Create a token
        </a>
      </div>
      <Managed asked={asked}>{(tokens) => <Lists tokens={tokens} />}</Managed>
    </>
  )
}

function Lists({ tokens }: { tokens: Token[] }) {
  const signIns = tokens.filter(({ mfa }) => mfa !== null)
  const others = tokens.filter(({ mfa }) => mfa === null)
  return (
    <>
      {others.length === 0 ? <p>No tokens yet. Create one for each program.</p> : <TokenTable tokens={others} />}
      {signIns.length > 0 && (
        <>
          <h2>Sign-ins</h2>
          <p>Whoever signs in with the password uses one of these. Delete it to end the session.</p>
          <TokenTable tokens={signIns} />
        </>
      )}
    </>
  )
}

function TokenTable({ tokens }: { tokens: Token[] }) {
  return (
    <List heads={['Name', 'Last use', 'Expires']}>
      {tokens.map((token) => (
        <tr key={token.id}>
          <td>
            <a href={`tokens/${token.id}`}>{tokenName(token)}</a>
            {isPresent(token) && ' (you are signed in with it)'}
          </td>
          <td>{token.last_used === null ? 'Never' : <Time at={token.last_used} />}</td>
          <td>
            <Expiry token={token} />
          </td>
        </tr>
      ))}
    </List>
  )
}
