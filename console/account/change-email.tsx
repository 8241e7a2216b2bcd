import { useState } from 'preact/hooks'
import type { Account } from '../api/account.ts'
import { withPassword } from '../api/captcha.ts'
import { api, ask } from '../api/client.ts'
import { Field, Form, useAction } from '../kit/form.tsx'
import { type Kinds, useCredentials } from './credentials.tsx'

/** Has a link mailed to a new address, which makes it the address of the account. */
export function ChangeEmail({ account, kinds }: { account: Account; kinds: Kinds }) {
  const [newEmail, setNewEmail] = useState('')
  const [sentTo, setSentTo] = useState('')
  const action = useAction()
  const credentials = useCredentials(account, kinds, action)
  const change = async () => {
    setSentTo('')
    const body = { ...(await credentials.body()), new_email: newEmail }
    await withPassword((captcha) => ask(api.POST('/api/v1/auth/account/change-email/', { body: { ...body, captcha } })))
    setSentTo(newEmail)
    setNewEmail('')
    credentials.clear()
  }
  return (
    <>
      <p>
        Your address is <b>{account.email}</b>.
      </p>
      <details>
        <summary>Change it</summary>
        <Form action={action} fields={['new_email', 'password', 'code']} submit="Change the address" onSubmit={change}>
          <Field
            label="New e-mail"
            type="email"
            required
            value={newEmail}
            onText={setNewEmail}
            problems={action.of('new_email')}
          />
          {credentials.fields}
        </Form>
      </details>
      <div role="status">
        {sentTo !== '' && (
          <p class="note">
            We have sent a mail to {sentTo}. The link in it makes that your address. Until then, {account.email} stays.
          </p>
        )}
      </div>
    </>
  )
}
