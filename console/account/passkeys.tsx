import { useState } from 'preact/hooks'
import { loadMe } from '../api/me.ts'
import { addPasskey, type Passkey } from '../api/passkeys.ts'
import { Field, Form, useAction } from '../kit/form.tsx'
import { FactorList } from './factors.tsx'

interface Props {
  email: string
  passkeys: Passkey[]
  /** Whether passkeys can be used at this address. */
  isOffered: boolean
  /** Called after a passkey was added, changed or deleted. */
  onChange: () => void
}

/** The passkeys of the account. A first one is added by a link in a mail, others at once (contract §12.1). */
export function Passkeys({ email, passkeys, isOffered, onChange }: Props) {
  const [name, setName] = useState('')
  const [isMailed, setMailed] = useState(false)
  const action = useAction()
  const add = async () => {
    setMailed(await addPasskey(name))
    setName('')
    onChange()
  }
  const goOn = async () => {
    // If the link has been opened, this session needs the passkey, too.
    await loadMe()
    setMailed(false)
    onChange()
  }
  return (
    <>
      <p>
        With a passkey, you sign in by fingerprint, face or PIN, without address and password. It is a second factor, too:
        from the first one on, your password alone does not sign in.
      </p>
      {passkeys.length > 0 && <FactorList kind="passkeys" factors={passkeys} onChange={onChange} />}
      <div role="status">
        {isMailed && (
          <p class="note">
            We have sent a mail to {email}, to be sure that it is you. The link in it adds the passkey.{' '}
            <button class="plain" onClick={() => void goOn()}>
              I have opened it
            </button>
          </p>
        )}
      </div>
      {isOffered && (
        <Form action={action} fields={['name']} submit="Add a passkey" onSubmit={add}>
          <Field label="Name of the passkey" hint="Such as laptop" required value={name}
            onText={setName} problems={action.of('name')} />
        </Form>
      )}
    </>
  ) // prettier-ignore
}
