import { useState } from 'preact/hooks'
import type { Factor } from '../api/account.ts'
import { api, ask } from '../api/client.ts'
import { isLogin } from '../api/me.ts'
import { Field, Form, useAction } from '../kit/form.tsx'
import { Dialog } from '../kit/review.tsx'
import { Time } from '../kit/time.tsx'
import { Activate, type DeedProps } from './activate.tsx'
import { AddFactor } from './new-factor.tsx'

interface ListProps {
  kind: DeedProps['kind']
  factors: Factor[]
  /** Called after a factor was added, changed or deleted. */
  onChange: () => void
}

type Props = Omit<ListProps, 'kind'> & { email: string }

/** The second factors of the account. */
export function Factors({ email, factors, onChange }: Props) {
  if (!isLogin()) return <p>Sign in with your password to see and change them.</p>
  return (
    <>
      {factors.length === 0 ? (
        <p>
          None yet. With an authenticator app as second factor, nobody can sign in with your password alone. API tokens
          go on without.
        </p>
      ) : (
        <FactorList kind="totp" factors={factors} onChange={onChange} />
      )}
      <AddFactor email={email} onChange={onChange} />
    </>
  )
}

/** TOTP factors or passkeys, and what can be done with them. */
export function FactorList({ kind, factors, onChange }: ListProps) {
  const [open, setOpen] = useState<{ factor: Factor; deed: keyof typeof DEEDS }>()
  const close = () => {
    setOpen(undefined)
  }
  const Deed = open === undefined ? undefined : DEEDS[open.deed]
  return (
    <>
      <ul class="factors">
        {factors.map((factor) => (
          <li key={factor.id}>
            <b>{factor.name}</b>
            <span class="quiet">
              {factor.last_used === null ? (
                kind === 'totp' ? (
                  'Not active yet'
                ) : (
                  'Never used'
                )
              ) : (
                <>
                  Last used <Time at={factor.last_used} />
                </>
              )}
            </span>
            <span class="deeds">
              {(['Activate', 'Rename', 'Delete'] as const)
                .filter((deed) => deed !== 'Activate' || (kind === 'totp' && factor.last_used === null))
                .map((deed) => (
                  <button
                    key={deed}
                    class="small"
                    aria-label={`${deed} ${factor.name}`}
                    onClick={() => {
                      setOpen({ factor, deed })
                    }}
                  >
                    {deed}
                  </button>
                ))}
            </span>
          </li>
        ))}
      </ul>
      {Deed !== undefined && (
        <Dialog title={`${open!.deed} ${open!.factor.name}`} onClose={close}>
          <Deed
            kind={kind}
            factor={open!.factor}
            onDone={() => {
              close()
              onChange()
            }}
            onCancel={close}
          />
        </Dialog>
      )}
    </>
  )
}

const DEEDS = { Activate, Rename, Delete }

function Rename({ kind, factor: { id, name }, onDone, onCancel }: DeedProps) {
  const [newName, setName] = useState(name)
  const action = useAction()
  const rename = async () => {
    await ask(api.PATCH(`/api/v1/auth/${kind}/{id}/`, { params: { path: { id } }, body: { name: newName } }))
    onDone()
  }
  return (
    <Form action={action} fields={['name']} submit="Rename" onSubmit={rename} onCancel={onCancel}>
      <Field label="New name" required value={newName} onText={setName} problems={action.of('name')} />
    </Form>
  )
}

function Delete({ kind, factor: { id, name }, onDone, onCancel }: DeedProps) {
  const action = useAction()
  const remove = async () => {
    await ask(api.DELETE(`/api/v1/auth/${kind}/{id}/`, { params: { path: { id } } }))
    onDone()
  }
  return (
    <Form
      action={action}
      submit={kind === 'totp' ? 'Delete the factor' : 'Delete the passkey'}
      isDangerous
      onSubmit={remove}
      onCancel={onCancel}
    >
      <p>“{name}” does not count any more. Without another second factor, the password alone signs in.</p>
    </Form>
  )
}
