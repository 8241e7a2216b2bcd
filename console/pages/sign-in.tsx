import { useEffect, useState } from 'preact/hooks'
import { withPassword } from '../api/captcha.ts'
import { api, ask, Refused } from '../api/client.ts'
import { begin } from '../api/me.ts'
import { signed } from '../api/passkeys.ts'
import { hasExpired, hasLeft } from '../api/session.ts'
import { leave, linking } from '../api/sign-on.ts'
import { Card } from '../kit/card.tsx'
import { Act, Field, focusFirst, Form, Refusal, useAction } from '../kit/form.tsx'
import { refusedBy, useAsked } from '../kit/loading.tsx'

/** The fragment of the address that `npm start` prints: whoever opens it has a token. */
const TOKEN = '#token'

/** Signs in by address and password, by single sign-on, by a passkey, or by an API token. */
export function SignInPage() {
  const [isByToken, setByToken] = useState(window.location.hash === TOKEN)
  const offer = useAsked(() => ask(api.GET('/api/v1/service/')), [])
  const name = offer.value?.single_sign_on
  // Until the service has said so, most have them.
  const hasPasswords = offer.value?.passwords !== false
  return (
    <Card title="Sign in">
      {hasExpired.value && (
        <p class="note" role="status">
          Your session has ended. Sign in again: what you have not applied yet is still here.
        </p>
      )}
      {hasLeft.value && (
        <p class="note" role="status">
          You are signed out.
        </p>
      )}
      {linking.value !== undefined && (
        <p class="note" role="status">
          {linking.value.text}
        </p>
      )}
      {name != null && <WithIssuer name={name} />}
      {hasPasswords && (
        <>
          {name != null && <p class="or">or</p>}
          <WithPassword />
        </>
      )}
      <p class="or">or</p>
      {offer.value?.passkeys === true && <WithPasskey />}
      {isByToken ? (
        <WithToken />
      ) : (
        <button
          class="way"
          onClick={() => {
            setByToken(true)
          }}
        >
          Use an API token
        </button>
      )}
      <p class="ways">
        {hasPasswords && <a href="forgotten">Forgotten password?</a>}
        {offer.value?.registration === true && <a href="sign-up">Create an account</a>}
      </p>
    </Card>
  )
}

function WithIssuer({ name }: { name: string }) {
  const action = useAction()
  const asked = useAsked(() => ask(api.GET('/api/v1/auth/oidc/')), [])
  return (
    <>
      {asked.value?.reachable === false && (
        <p class="note" role="status">
          “{name}” does not answer at the moment. Try again later, or sign in in another way.
        </p>
      )}
      <Refusal of={action} />
      <Act class="way main" action={action} work={leave}>
        {name}
      </Act>
    </>
  )
}

function WithPassword() {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const action = useAction()
  const signIn = async () => {
    const { token } = await withPassword((captcha) =>
      ask(api.POST('/api/v1/auth/login/', { body: { email, password, captcha } })),
    )
    await begin(token)
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

function WithPasskey() {
  const action = useAction()
  const signIn = async () => {
    const passkey = await signed('login')
    await begin((await ask(api.POST('/api/v1/auth/login/passkey/', { body: { passkey } }))).token)
  }
  return (
    <>
      <Refusal of={action} />
      <Act class="way" action={action} work={signIn}>
        Sign in with a passkey
      </Act>
    </>
  )
}

function WithToken() {
  const [secret, setSecret] = useState('')
  const action = useAction()
  useEffect(focusFirst, [])
  const signIn = () =>
    begin(secret.trim()).catch((reason: unknown) => {
      const { status, message } = refusedBy(reason)
      // The API has one text for all reasons (contract §2.2).
      const detail = message.replace('Invalid token.', 'Invalid token, or it may not be used from your address.')
      throw new Refused(status, { detail })
    })
  return (
    <Form action={action} submit="Use the token" onSubmit={signIn}>
      <Field
        label="Token"
        hint="The console then shows only what this token may do."
        type="password"
        autocomplete="off"
        autofocus
        required
        value={secret}
        onText={setSecret}
      />
    </Form>
  )
}
