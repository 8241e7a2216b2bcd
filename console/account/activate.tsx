import { useState } from 'preact/hooks'
import type { Factor } from '../api/account.ts'
import { api, ask } from '../api/client.ts'
import { loadMe } from '../api/me.ts'
import { Code, Form, useAction } from '../kit/form.tsx'

/** The parameters of a form that changes a factor. */
export interface DeedProps {
  kind: 'totp' | 'passkeys'
  factor: Pick<Factor, 'id' | 'name'>
  onDone: () => void
  onCancel?: () => void
}

/** Asks for the first code of a factor. If it is the account's first factor, this session needs another code afterwards. */
export function Activate({ factor: { id }, onDone, onCancel }: Omit<DeedProps, 'kind'>) {
  const [code, setCode] = useState('')
  const action = useAction()
  const activate = async () => {
    await ask(api.POST('/api/v1/auth/totp/{id}/verify/', { params: { path: { id } }, body: { code } }))
    await loadMe()
    onDone()
  }
  return (
    <Form action={action} fields={['code']} submit="Activate" onSubmit={activate} onCancel={onCancel}>
      <Code value={code} onText={setCode} problems={action.of('code')}
        hint="The six digits that your authenticator app shows. Only then, the factor has an effect." />
    </Form>
  ) // prettier-ignore
}
