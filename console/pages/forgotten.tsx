import { useState } from 'preact/hooks'
import { ResetPassword } from '../account/reset-password.tsx'
import { Card } from '../kit/card.tsx'
import { Field } from '../kit/form.tsx'

/** Has a link mailed that sets a new password. */
export function ForgottenPage() {
  const [email, setEmail] = useState('')
  return (
    <Card title="Forgotten password">
      <p>We send you a link with which you choose a new password.</p>
      <ResetPassword email={email}>
        {(problems) => (
          <Field label="E-mail" type="email" autocomplete="username" required value={email} onText={setEmail}
            problems={problems} />
        )}
      </ResetPassword>
      <p class="ways">
        <a href="">Back to sign-in</a>
      </p>
    </Card>
  ) // prettier-ignore
}
