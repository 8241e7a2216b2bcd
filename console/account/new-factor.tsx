import { useState } from 'preact/hooks'
import type { NewFactor } from '../api/account.ts'
import { api, ask, askWhole, Refused } from '../api/client.ts'
import { Copy } from '../kit/copy.tsx'
import { Field, Form, useAction } from '../kit/form.tsx'
import { Dialog } from '../kit/review.tsx'
import { Activate } from './activate.tsx'
import { QrCode } from './qr-code.tsx'

interface Props {
  email: string
  onChange: () => void
}

/** Adds a factor: a first one by a link in a mail, others at once (contract §12). */
export function AddFactor({ email, onChange }: Props) {
  const [name, setName] = useState('')
  const [isMailed, setMailed] = useState(false)
  const [added, setAdded] = useState<NewFactor>()
  const action = useAction()
  const add = async () => {
    const { data, response } = await askWhole(api.POST('/api/v1/auth/totp/', { body: { name } }))
    setMailed(response.status === 202)
    if (response.status === 201) setAdded(data as NewFactor)
    setName('')
    onChange()
  }
  const end = () => {
    setAdded(undefined)
    setMailed(false)
    onChange()
  }
  return (
    <>
      {isMailed ? (
        <FromLink email={email} onFactor={setAdded} onOpened={end} />
      ) : (
        <Form action={action} fields={['name']} submit="Add a factor" onSubmit={add}>
          <Field label="Name" hint="Such as phone" required value={name}
            onText={setName} problems={action.of('name')} />
        </Form>
      )}
      {added !== undefined && <Secret factor={added} onEnd={end} />}
    </>
  ) // prettier-ignore
}

interface FromLinkProps {
  email: string
  onFactor: (factor: NewFactor) => void
  /** Called if the page behind the link has shown the secret. */
  onOpened: () => void
}

/** Shows the factor behind the link in the mail. Its code goes into a path of the API alone, as when the link is opened. */
function FromLink({ email, onFactor, onOpened }: FromLinkProps) {
  const [link, setLink] = useState('')
  const action = useAction()
  const show = async () => {
    const code = /\/create-totp\/([^/\s]+)/.exec(link)?.[1]
    if (code === undefined) throw new Refused(0, { link: ['This is not the link in the mail.'] })
    const path = { action: 'create-totp', code: decodeURIComponent(code) } as const
    onFactor((await ask(api.POST('/api/v1/v/{action}/{code}/', { params: { path }, body: {} }))) as NewFactor)
  }
  return (
    <Form action={action} fields={['link']} submit="Show the QR code" onSubmit={show}>
      <p role="status">
        We have sent a mail to {email}, to be sure that it is you. Copy the link in it, and paste it here. If you have opened
        it, <button type="button" class="plain" onClick={onOpened}>go on with the secret that it shows</button>.
      </p>
      <Field label="Link in the mail" autocomplete="off" required value={link}
        onText={setLink} problems={action.of('link')} />
    </Form>
  ) // prettier-ignore
}

/** Shows the secret of a new factor, which the service does not show again, and asks for the first code. */
function Secret({ factor, onEnd }: { factor: NewFactor; onEnd: () => void }) {
  return (
    <Dialog title={`Second factor ${factor.name}`} onClose={onEnd}>
      <p>Scan this with your authenticator app. It is shown only now.</p>
      <QrCode text={factor.uri} label="QR code of the secret" />
      <p>
        Or type the secret: <code>{factor.secret}</code> <Copy text={factor.secret} what="the secret" />
      </p>
      <Activate factor={factor} onDone={onEnd} />
      <p class="buttons">
        <button onClick={onEnd}>Later</button>
      </p>
    </Dialog>
  )
}
