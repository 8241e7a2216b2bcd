import { useState } from 'preact/hooks'
import type { components } from '../../build/api-types.d.ts'
import { api, ask } from '../api/client.ts'
import { isLogin, mayDelete } from '../api/me.ts'
import { Act, Refusal, useAction } from '../kit/form.tsx'
import { Panel } from '../kit/panel.tsx'
import { Ago } from '../kit/time.tsx'
import { stepsOf, WAITS } from './dnssec.ts'
import { Steps } from './steps.tsx'

type Schemas = components['schemas']

interface Props {
  name: string
  rollover: Schemas['Rollover']
  onChanged: () => void
}

/** A replacement of the key that runs: its steps, and what whoever may delete the domain can do. */
export function Rollover({ name, rollover, onChanged }: Props) {
  const { phase, since, waits_for: awaited } = rollover
  const waiting = (
    <>
      Waits for {WAITS[awaited]}, since <Ago at={since} />.
    </>
  )
  return (
    <Panel title="The key is being replaced">
      {phase === 'queued' && <p>{waiting}</p>}
      {rollover.emergency && <p>In an emergency, no step waits for caches.</p>}
      <Steps steps={stepsOf(phase)}>{waiting}</Steps>
      {mayDelete(name) && <Acts name={name} rollover={rollover} onChanged={onChanged} />}
    </Panel>
  )
}

function Acts({ name, rollover, onChanged }: Props) {
  const params = { path: { name } }
  const action = useAction()
  const confirm = (force: boolean): Promise<unknown> =>
    ask(api.POST('/api/v1/domains/{name}/rollover/confirm/', { params, body: { force } })).catch((reason: unknown) => {
      // It says what the parent has, and what breaks without the former key.
      const { message } = reason as Error
      if (isLogin() && message.includes('by force') && window.confirm(message)) return confirm(true)
      throw reason
    })
  const cancel = () => ask(api.DELETE('/api/v1/domains/{name}/rollover/', { params }))
  return (
    <>
      <Refusal of={action} />
      <p class="buttons">
        {['signers', 'parent'].includes(rollover.waits_for) && (
          <Act action={action} work={() => confirm(false).then(onChanged)}>
            {rollover.waits_for === 'parent'
              ? 'Confirm: the parent has only the new DS record'
              : 'Confirm: the signers show the new key'}
          </Act>
        )}
        <button disabled={action.isBusy} onClick={onChanged}>
          Look again
        </button>
        {rollover.can_cancel && (
          <Act action={action} work={() => cancel().then(onChanged)}>
            Go back to the former key
          </Act>
        )}
      </p>
    </>
  )
}

const CHOICES = [
  ['ecdsa256', 'ECDSA P-256 (usual)'],
  ['ed25519', 'Ed25519'],
  ['ecdsa384', 'ECDSA P-384'],
] as const

/** Begins to replace the key of a domain. */
export function NewRollover({ name, onBegun }: { name: string; onBegun: () => void }) {
  const [algorithm, setAlgorithm] = useState<(typeof CHOICES)[number][0]>('ecdsa256')
  const action = useAction()
  const begin = async (body: Schemas['RolloverInput']) => {
    await ask(api.POST('/api/v1/domains/{name}/rollover/', { params: { path: { name } }, body }))
    onBegun()
  }
  return (
    <Panel title="Replace the key" isFolded>
      <p>A new key replaces the present one, step by step. The service says when the DS record has to change.</p>
      <Refusal of={action} />
      <p class="tools">
        <label>
          Algorithm{' '}
          <select
            value={algorithm}
            onChange={(event) => {
              setAlgorithm(event.currentTarget.value as typeof algorithm)
            }}
          >
            {CHOICES.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <Act action={action} work={() => begin({ algorithm })}>
          Replace the key
        </Act>
        <Act action={action} work={() => begin({ return: true })}>
          Go back to the former key
        </Act>
      </p>
    </Panel>
  )
}
