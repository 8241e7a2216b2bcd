import { useState } from 'preact/hooks'
import { api, ask, Refused } from '../api/client.ts'
import { hasExpired, session } from '../api/session.ts'
import { Field, Form, useAction } from '../parts/form.tsx'

/** Signs in by address and password, with the code of a second factor if the account has one, or by an API token. */
export function SignInPage() {
  const [pending, setPending] = useState<Pending>()
  return (
    <div class="narrow">
      <h1 tabIndex={-1}>{pending === undefined ? 'Sign in' : 'Second factor'}</h1>
      {hasExpired.value && (
        <p class="note" role="status">
          Your session has ended. Sign in again: what you have not applied yet is still here.
        </p>
      )}
      {pending !== undefined ? (
        <SecondFactor pending={pending} />
      ) : (
        <>
          <WithPassword onPending={setPending} />
          <h2>With an API token</h2>
          <WithToken />
        </>
      )}
    </div>
  )
}

/** A log-in that lacks the code of a second factor. */
interface Pending {
  secret: string
  email: string
  factors: { id: string; name: string }[]
}

function begin(secret: string, email: string, isLogin: boolean): void {
  hasExpired.value = false
  session.value = { secret, email, isLogin }
}

const bearing = (secret: string) => ({ headers: { Authorization: `Token ${secret}` } })

function WithPassword({ onPending }: { onPending: (pending: Pending) => void }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const action = useAction()
  const signIn = async () => {
    const { token: secret } = await ask(api.POST('/api/v1/auth/login/', { body: { email, password } }))
    const factors = await ask(api.GET('/api/v1/auth/totp/', bearing(secret)))
    if (factors.length === 0) begin(secret, email, true)
    else onPending({ secret, email, factors })
  }
  return (
    <Form action={action} fields={['email', 'password']} submit="Sign in" onSubmit={signIn}>
      <Field label="E-mail" type="email" autocomplete="username" required value={email} onText={setEmail}
        problems={action.of('email')} />
      <Field label="Password" type="password" autocomplete="current-password" required value={password}
        onText={setPassword} problems={action.of('password')} />
    </Form>
  ) // prettier-ignore
}

function SecondFactor({ pending: { secret, email, factors } }: { pending: Pending }) {
  const [id, setId] = useState(factors[0]!.id)
  const [code, setCode] = useState('')
  const action = useAction()
  const verify = async () => {
    await ask(
      api.POST('/api/v1/auth/totp/{id}/verify/', { params: { path: { id } }, body: { code }, ...bearing(secret) }),
    )
    begin(secret, email, true)
  }
  return (
    <Form action={action} fields={['code']} submit="Continue" onSubmit={verify}>
      {factors.length > 1 && (
        <div class="field">
          <label for="factor">Factor</label>
          <select
            id="factor"
            value={id}
            onChange={(event) => {
              setId(event.currentTarget.value)
            }}
          >
            {factors.map((factor) => (
              <option key={factor.id} value={factor.id}>
                {factor.name}
              </option>
            ))}
          </select>
        </div>
      )}
      <Field
        label="Code"
        hint={factors.length === 1 ? `The six digits that “${factors[0]!.name}” shows` : 'The six digits that it shows'}
        inputMode="numeric"
        autocomplete="one-time-code"
        required
        value={code}
        onText={setCode}
        problems={action.of('code')}
      />
    </Form>
  )
}

function WithToken() {
  const [secret, setSecret] = useState('')
  const action = useAction()
  const signIn = async () => {
    // What the token may do decides what the pages show; any answer but 401 shows that it is one.
    const account = await ask(api.GET('/api/v1/auth/account/', bearing(secret.trim()))).catch((reason: unknown) => {
      if (reason instanceof Refused && reason.status === 403) return { email: '' }
      throw reason
    })
    begin(secret.trim(), account.email, false)
  }
  return (
    <Form action={action} submit="Use the token" onSubmit={signIn}>
      <Field
        label="Token"
        hint="The console then shows only what this token may do."
        type="password"
        autocomplete="off"
        required
        value={secret}
        onText={setSecret}
      />
    </Form>
  )
}
