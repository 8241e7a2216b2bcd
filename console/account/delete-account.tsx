import { useState } from 'preact/hooks'
import type { Account } from '../api/account.ts'
import { withPassword } from '../api/captcha.ts'
import { api, ask } from '../api/client.ts'
import { Form, useAction } from '../kit/form.tsx'
import { type Kinds, useCredentials } from './credentials.tsx'

/** Has a link mailed that deletes the account. */
export function DeleteAccount({ account, kinds }: { account: Account; kinds: Kinds }) {
  const [said, setSaid] = useState('')
  const action = useAction()
  const credentials = useCredentials(account, kinds, action)
  const remove = async () => {
    const body = await credentials.body()
    const { detail } = await withPassword((captcha) =>
      ask(api.POST('/api/v1/auth/account/delete/', { body: { ...body, captcha } })),
    )
    credentials.clear()
    setSaid(detail)
  }
  if (said !== '') return <p role="status">{said}</p>
  return (
    <>
      <p>We mail you a link that deletes your account, with all its tokens and settings. There is no way back.</p>
      {account.domains_under_management > 0 && (
        <p>
          Before that, delete <a href="">your domains</a>: an account that has domains cannot be deleted.
        </p>
      )}
      <details>
        <summary>Delete it</summary>
        <Form action={action} fields={['password', 'code']} submit="Delete my account" isDangerous onSubmit={remove}>
          {credentials.fields}
        </Form>
      </details>
    </>
  )
}
