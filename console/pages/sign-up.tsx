import { useState } from 'preact/hooks'
import type { components } from '../../build/api-types.d.ts'
import { useProof } from '../api/captcha.ts'
import { api, ask } from '../api/client.ts'
import { Card } from '../kit/card.tsx'
import { Checkbox, Field, Form, useAction } from '../kit/form.tsx'
import { Loaded, useAsked } from '../kit/loading.tsx'

type Offer = components['schemas']['Offer']

/** Creates an account, if the service lets strangers do so. */
export function SignUpPage() {
  const asked = useAsked(() => ask(api.GET('/api/v1/service/')), [])
  const [email, setEmail] = useState<string>()
  if (email !== undefined && asked.value !== undefined) return <Welcome email={email} offer={asked.value} />
  return (
    <Card title="Create an account">
      <Loaded asked={asked}>
        {(offer) =>
          offer.registration ? (
            <SignUp offer={offer} onDone={setEmail} />
          ) : (
            <p>Sign-up is closed here. Ask the operator of this service for an account.</p>
          )
        }
      </Loaded>
      <p class="ways">
        <a href="">Back to sign-in</a>
      </p>
    </Card>
  )
}

function SignUp({ offer, onDone }: { offer: Offer; onDone: (email: string) => void }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [hasOutreach, setOutreach] = useState(false)
  const proof = useProof(offer.captcha, true)
  const action = useAction()
  const signUp = async () => {
    const body = { email, password, outreach_preference: hasOutreach }
    await proof.send((captcha) => ask(api.POST('/api/v1/auth/', { body: { ...body, captcha } })))
    onDone(email)
  }
  return (
    <Form action={action} fields={['email', 'password']} submit="Create the account" onSubmit={signUp}>
      <Field label="E-mail" type="email" autocomplete="username" required value={email} onText={setEmail}
        problems={action.of('email')} />
      <Field label="Password" type="password" autocomplete="new-password" required value={password}
        hint="At least 8 characters. Use a long sentence, or let your password manager create one."
        onText={setPassword} problems={action.of('password')} />
      <Checkbox label="Also send me news, not only the necessary mails" checked={hasOutreach} onCheck={setOutreach} />
      <p class="quiet" role="status">{proof.status}</p>
    </Form>
  ) // prettier-ignore
}

/** What comes next. Whether the address had an account already, nobody learns here. */
function Welcome({ email, offer }: { email: string; offer: Offer }) {
  return (
    <Card title="Welcome">
      <p role="status">
        {offer.email_confirmation ? (
          <>
            We have sent a mail to <b>{email}</b>. Open the link in it to activate your account, and then sign in.
          </>
        ) : (
          'Your account is active. You can sign in now.'
        )}
      </p>
      <p class="ways">
        <a href="">Sign in</a>
      </p>
    </Card>
  )
}
