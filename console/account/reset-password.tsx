import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useProof } from '../api/captcha.ts'
import { api, ask } from '../api/client.ts'
import { Form, useAction } from '../kit/form.tsx'
import { useAsked } from '../kit/loading.tsx'

interface Props {
  email: string
  /** The field for the address, if it is not known, with its problems. */
  children?: (problems: string[]) => ComponentChildren
}

/** Requests a mail with a link to set a new password. */
export function ResetPassword({ email, children }: Props) {
  const offer = useAsked(() => ask(api.GET('/api/v1/service/')), [])
  const proof = useProof(offer.value?.captcha === true, children !== undefined)
  const action = useAction()
  const [said, setSaid] = useState('')
  const send = async () => {
    const { detail } = await proof.send((captcha) =>
      ask(api.POST('/api/v1/auth/account/reset-password/', { body: { email, captcha } })),
    )
    setSaid(detail)
  }
  if (said !== '') return <p role="status">{said}</p>
  return (
    <Form action={action} fields={['email']} submit="Send me the link" onSubmit={send}>
      {children?.(action.of('email'))}
      <p class="quiet" role="status">
        {proof.status}
      </p>
    </Form>
  )
}
