import { useState } from 'preact/hooks'
import { api, ask } from '../api/client.ts'
import type { components } from '../../build/api-types.d.ts'
import { ADDRESS, configurationsOf, NOTIFIER } from '../model/secondaries.ts'
import { Copy } from '../parts/copy.tsx'
import { DomainHeader } from '../parts/domain-header.tsx'
import { Checkbox, Form, useAction } from '../parts/form.tsx'
import { Loaded, useAsked } from '../parts/loading.tsx'

type Schemas = components['schemas']
type Transfers = Schemas['Transfers']

/** Which nameserver serves which version of a domain, and the user's own secondaries. */
export function NameserversPage({ name }: { name: string }) {
  const params = { path: { name } }
  const publication = useAsked(() => ask(api.GET('/api/v1/domains/{name}/publication/', { params })), [name])
  const transfers = useAsked(() => ask(api.GET('/api/v1/domains/{name}/transfers/', { params })), [name])
  return (
    <>
      <DomainHeader name={name} />
      <section aria-labelledby="served">
        <h2 id="served">What is served</h2>
        <Loaded asked={publication}>{(found) => <Publication publication={found} />}</Loaded>
        <button onClick={publication.reload}>Look again</button>
      </section>
      <section aria-labelledby="own">
        <h2 id="own">Your own secondaries</h2>
        {transfers.problem?.status === 403 ? (
          <p>This token may not see or change these: it may not write all records of the domain.</p>
        ) : (
          <Loaded asked={transfers}>{(found) => <TransferForm key={name} name={name} transfers={found} />}</Loaded>
        )}
      </section>
    </>
  )
}

const STATUS: Record<string, string> = {
  INSYNC: 'serves it',
  PENDING: 'not yet',
  UNREACHABLE: 'does not answer',
}

function Publication({ publication: { version, nameservers } }: { publication: Schemas['PublicationStatus'] }) {
  return (
    <>
      <p>The domain has version {version}.</p>
      <table class="list">
        <thead>
          <tr>
            <th scope="col">Nameserver</th>
            <th scope="col">Serves version</th>
            <th scope="col">Status</th>
          </tr>
        </thead>
        <tbody>
          {nameservers.map((server) => (
            <tr key={server.name}>
              <td class="mono">{server.name}</td>
              <td>{server.version ?? 'not known'}</td>
              <td>{server.detail ?? STATUS[server.status]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

const lines = (text: string) => text.split(/[\s,]+/).filter((line) => line !== '')

function TransferForm({ name, transfers }: { name: string; transfers: Transfers }) {
  const [addresses, setAddresses] = useState(transfers.addresses.join('\n'))
  const [notify, setNotify] = useState(transfers.notify.join('\n'))
  const [tsig, setTsig] = useState(transfers.tsig)
  const [key, setKey] = useState<Schemas['TransferKey']>()
  const [isSaved, setSaved] = useState(false)
  const action = useAction()
  const save = async () => {
    setSaved(false)
    const body = { addresses: lines(addresses), notify: lines(notify), tsig }
    const stored = await ask(api.PUT('/api/v1/domains/{name}/transfers/', { params: { path: { name } }, body }))
    setAddresses(stored.addresses.join('\n'))
    setNotify(stored.notify.join('\n'))
    if ('key' in stored) setKey(stored.key)
    else if (!stored.tsig) setKey(undefined)
    setSaved(true)
  }
  return (
    <div class="narrow">
      <p>
        Nameservers of your own can transfer the zone: from these addresses, or with a TSIG key from everywhere. They do not
        count above.
      </p>
      <Form action={action} fields={['addresses', 'notify']} submit="Save" onSubmit={save}>
        <Lines label="May transfer" hint="Addresses or networks, one a line, at most 8" text={addresses}
          onText={setAddresses} problems={action.of('addresses')} />
        <Lines label="Are told of changes" hint="By NOTIFY; addresses from above, at most 4" text={notify}
          onText={setNotify} problems={action.of('notify')} />
        <Checkbox label="With a TSIG key" checked={tsig} onCheck={setTsig} />
      </Form>
      <p role="status">{isSaved && 'Saved. A removed address or key can work for another minute.'}</p>
      {key !== undefined && <NewKey name={name} tsigKey={key} />}
    </div>
  ) // prettier-ignore
}

function Lines(props: {
  label: string
  hint: string
  text: string
  onText: (text: string) => void
  problems: string[]
}) {
  const id = props.label.replaceAll(' ', '-')
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <textarea
        id={id}
        rows={3}
        spellcheck={false}
        aria-invalid={props.problems.length > 0}
        aria-describedby={`${id}-hint`}
        value={props.text}
        onInput={(event) => {
          props.onText(event.currentTarget.value)
        }}
      />
      <p class={props.problems.length > 0 ? 'problem' : 'quiet'} id={`${id}-hint`}>
        {props.problems.length > 0 ? props.problems.join(' ') : props.hint}
      </p>
    </div>
  )
}

/** A new key, which is shown this once, and the lines for three nameservers. */
function NewKey({ name, tsigKey }: { name: string; tsigKey: Schemas['TransferKey'] }) {
  return (
    <section aria-labelledby="tsig">
      <h3 id="tsig">The new TSIG key</h3>
      <p class="note">
        It is shown this once. Ask the operator for two addresses: <code>{ADDRESS}</code> is that of the server to
        transfer from, <code>{NOTIFIER}</code> that of the server that sends NOTIFY.
      </p>
      {configurationsOf(name, tsigKey).map(({ server, text }) => (
        <div key={server}>
          <h4>
            {server} <Copy text={text} what={`the lines for ${server}`} />
          </h4>
          <pre tabIndex={0} aria-label={`Lines for ${server}`}>
            {text}
          </pre>
        </div>
      ))}
    </section>
  )
}
