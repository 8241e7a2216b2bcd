import { useState } from 'preact/hooks'
import type { components } from '../../build/api-types.d.ts'
import { api, ask, Refused } from '../api/client.ts'
import { isLogin, mayDelete } from '../api/me.ts'
import { nameserversOf } from '../api/rrsets.ts'
import { partsOfDnskey, partsOfNames, PHASES, STATES, WAITS } from '../model/dnssec.ts'
import { domainChanged } from '../parts/domain-header.tsx'
import { Act, Refusal, useAction } from '../parts/form.tsx'
import { DsRecords, Parts } from '../parts/key-records.tsx'
import { List } from '../parts/list.tsx'
import { type Asked, Loaded, useAsked } from '../parts/loading.tsx'
import { State } from '../parts/state.tsx'
import { Time } from '../parts/time.tsx'

type Schemas = components['schemas']

/** Whether a domain is secure, what to give to the registrar, and the replacement of its key. */
export function DnssecPage({ name }: { name: string }) {
  const params = { path: { name } }
  const [turn, setTurn] = useState(0)
  const domain = useAsked(
    () => Promise.all([ask(api.GET('/api/v1/domains/{name}/', { params })), nameserversOf(name)]),
    [name, turn],
  )
  const delegation = useAsked(() => ask(api.GET('/api/v1/domains/{name}/delegation/', { params })), [name, turn])
  const reload = () => {
    setTurn(turn + 1)
    domainChanged()
  }
  return (
    <>
      <section class="panel" aria-labelledby="state">
        <h2 id="state">Is it secure?</h2>
        <Loaded asked={delegation}>
          {(found) => <Delegation name={name} delegation={found} onChecked={reload} />}
        </Loaded>
      </section>
      <section class="panel" aria-labelledby="registrar">
        <h2 id="registrar">For the registrar</h2>
        <p>Your registrar enters these nameservers and one DS record into the parent zone.</p>
        <Loaded asked={domain}>
          {([{ keys }, names]) => (
            <>
              <Parts parts={partsOfNames(names)} whole={names.join(' ')} what="the nameservers" />
              <p>Most forms ask for the four parts of the DS record; a few ask for the key instead.</p>
              <Keys keys={keys} />
            </>
          )}
        </Loaded>
      </section>
      {mayDelete(name) && (
        <section class="panel" aria-labelledby="rollover">
          <h2 id="rollover">Replace the key</h2>
          <RolloverPart name={name} onChanged={reload} />
        </section>
      )}
    </>
  )
}

function Delegation(props: { name: string; delegation: Schemas['Delegation']; onChecked: () => void }) {
  const { name, delegation, onChecked } = props
  const { state, checked, problems, parent } = delegation
  const { words, mood } = STATES[state] ?? { words: state, mood: 'none' as const }
  const action = useAction()
  return (
    <>
      <p>
        <State mood={mood}>{checked === null ? 'Not checked yet' : words}</State>
      </p>
      {problems.length > 0 && (
        <ul>
          {problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      {checked !== null && (
        <>
          {state === 'unknown' && <p>If the domain is new, enter the data below at the registrar.</p>}
          <p class="quiet">
            Checked <Time at={checked} />.
            {parent !== null && ` The parent zone is ${parent === '' ? 'the root' : parent}.`}
          </p>
        </>
      )}
      {delegation.nameservers.length > 0 && <ParentServers servers={delegation.nameservers} />}
      <Refusal of={action} />
      <Act action={action} work={async () => {
            await ask(api.POST('/api/v1/domains/{name}/delegation/', { params: { path: { name } } }))
            onChecked()
          }}>
        {action.isBusy ? 'Asking the parent’s servers…' : 'Check now'}
      </Act>
    </>
  ) // prettier-ignore
}

function ParentServers({ servers }: { servers: Schemas['ParentServer'][] }) {
  return (
    <details>
      <summary>What the parent’s servers answer</summary>
      <List heads={['Server', 'Nameservers', 'DS records']}>
        {servers.map(({ name, address, ns, ds, problem }) => (
          <tr key={`${name} ${address}`}>
            <td>
              {name} <span class="quiet">{address}</span>
            </td>
            <td class="mono">{problem ?? (ns.join(', ') || 'none')}</td>
            <td class="mono">{ds.join(', ') || 'none'}</td>
          </tr>
        ))}
      </List>
    </details>
  )
}

function Keys({ keys = [] }: { keys?: Schemas['Key'][] }) {
  const ours = keys.filter(({ managed }) => managed)
  if (ours.length === 0) return <p>The keys are not known yet. Try again in a few minutes.</p>
  return (
    <>
      {ours.map(({ dnskey, ds }) => (
        <div key={dnskey}>
          <DsRecords records={ds} />
          <details>
            <summary>The key itself</summary>
            <Parts parts={partsOfDnskey(dnskey)} whole={dnskey} what="the key" />
          </details>
        </div>
      ))}
    </>
  )
}

/** The rollover of a domain; null: there is none. */
async function rolloverOf(name: string): Promise<Schemas['Rollover'] | null> {
  try {
    return await ask(api.GET('/api/v1/domains/{name}/rollover/', { params: { path: { name } } }))
  } catch (reason) {
    if (reason instanceof Refused && reason.status === 404) return null
    throw reason
  }
}

function RolloverPart({ name, onChanged }: { name: string; onChanged: () => void }) {
  const asked: Asked<Schemas['Rollover'] | null> = useAsked(() => rolloverOf(name), [name])
  const change = () => {
    asked.reload()
    onChanged()
  }
  return (
    <Loaded asked={asked}>
      {(rollover) =>
        rollover === null ? (
          <Begin name={name} onBegun={change} />
        ) : (
          <Progress name={name} rollover={rollover} onChanged={change} />
        )
      }
    </Loaded>
  )
}

const CHOICES = [
  ['ecdsa256', 'ECDSA P-256 (usual)'],
  ['ed25519', 'Ed25519'],
  ['ecdsa384', 'ECDSA P-384'],
] as const

function Begin({ name, onBegun }: { name: string; onBegun: () => void }) {
  const [algorithm, setAlgorithm] = useState<(typeof CHOICES)[number][0]>('ecdsa256')
  const action = useAction()
  const begin = async (body: Schemas['RolloverInput']) => {
    await ask(api.POST('/api/v1/domains/{name}/rollover/', { params: { path: { name } }, body }))
    onBegun()
  }
  return (
    <>
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
          Go back to the key of before
        </Act>
      </p>
    </>
  )
}

function Progress(props: { name: string; rollover: Schemas['Rollover']; onChanged: () => void }) {
  const { name, rollover, onChanged } = props
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
      <p>
        <strong>{PHASES[rollover.phase]}</strong> Since <Time at={rollover.since} /> it waits for{' '}
        {WAITS[rollover.waits_for]}.
      </p>
      {rollover.add_ds.length > 0 && (
        <>
          <h3>Add one of these at your registrar</h3>
          <DsRecords records={rollover.add_ds} />
          <h3>Then remove these</h3>
          <ul>
            {rollover.remove_ds.map((record) => (
              <li key={record}>
                <code>{record}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      <Refusal of={action} />
      <p class="buttons">
        <button disabled={action.isBusy} onClick={onChanged}>
          Look again
        </button>
        {['signers', 'parent'].includes(rollover.waits_for) && (
          <Act action={action} work={() => confirm(false).then(onChanged)}>
            {rollover.waits_for === 'parent'
              ? 'The parent has the new DS record alone'
              : 'The signers show the new key'}
          </Act>
        )}
        {rollover.can_cancel && (
          <Act action={action} work={() => cancel().then(onChanged)}>
            Go back to the key of before
          </Act>
        )}
      </p>
    </>
  )
}
