import { useEffect, useRef, useState } from 'preact/hooks'
import type { components } from '../../build/api-types.d.ts'
import { withoutDot } from '../../src/dns/names.ts'
import { api, ask } from '../api/client.ts'
import { mayChangeSettings, me } from '../api/me.ts'
import { withItems } from '../api/problems.ts'
import { nameserversOf } from '../api/rrsets.ts'
import { ADDRESS, configurationsOf, NOTIFIER } from '../domains/secondaries.ts'
import { Copy } from '../kit/copy.tsx'
import { Checkbox, Field, Form, useAction } from '../kit/form.tsx'
import { List } from '../kit/list.tsx'
import { Loaded, useAsked } from '../kit/loading.tsx'
import { Panel } from '../kit/panel.tsx'
import { State } from '../kit/state.tsx'

type Schemas = components['schemas']
type Transfers = Schemas['Transfers']

/** Which nameserver serves which version of a domain, and the user's own secondaries. */
export function NameserversPage({ name }: { name: string }) {
  const params = { path: { name } }
  const published = useAsked(
    () => Promise.all([ask(api.GET('/api/v1/domains/{name}/publication/', { params })), nameserversOf(name)]),
    [name],
  )
  return (
    <>
      <section aria-labelledby="served">
        <h2 id="served">What is served</h2>
        <Loaded asked={published}>{([status, names]) => <Publication status={status} names={names} />}</Loaded>
        <p>
          For the registrar: <a href={`domains/${name}/dnssec`}>DNSSEC</a> has these names to copy.
        </p>
        <button onClick={published.reload}>Look again</button>
      </section>
      {mayChangeSettings() && <Secondaries name={name} />}
    </>
  )
}

/** Who else transfers the zone. */
function Secondaries({ name }: { name: string }) {
  const transfers = useAsked(
    () => ask(api.GET('/api/v1/domains/{name}/transfers/', { params: { path: { name } } })),
    [name],
  )
  return (
    <div class="reading">
      <Panel title="Your own secondaries">
        {transfers.problem?.status === 403 && me.value!.policies.length > 0 ? (
          <p>This token may not see or change these: it may not write all records of the domain.</p>
        ) : (
          <Loaded asked={transfers}>{(found) => <TransferForm key={name} name={name} transfers={found} />}</Loaded>
        )}
      </Panel>
    </div>
  )
}

const SERVING = {
  INSYNC: { mood: 'good', words: 'Up to date' },
  PENDING: { mood: 'wait', words: 'Behind' },
  UNREACHABLE: { mood: 'bad', words: 'Does not answer' },
} as const
const NOT_ASKED = { mood: 'none', words: 'Not asked' } as const

/** @param names those of the NS records: the service can ask only nameservers whose addresses its settings have */
function Publication({ status, names }: { status: Schemas['PublicationStatus']; names: string[] }) {
  const { version, nameservers } = status
  const rows = new Map<string, Schemas['NameserverStatus'] | undefined>(
    names.map((name) => [name.toLowerCase(), undefined]),
  )
  for (const nameserver of nameservers) rows.set(withoutDot(nameserver.name), nameserver)
  return (
    <>
      <p class="facts">
        <span>
          Version <b>{version}</b>
        </span>
        <span>Also its SOA serial in DNS, which can be a little higher.</span>
      </p>
      <List heads={['Nameserver', 'State']}>
        {Array.from(rows, ([name, asked]) => {
          const { mood, words } = asked === undefined ? NOT_ASKED : SERVING[asked.status]
          return (
            <tr key={name}>
              <td>{name}</td>
              <td>
                <State mood={mood}>{words}</State>{' '}
                <span class="quiet">
                  {asked === undefined ? (
                    'This service does not watch it, so its state is not known here.'
                  ) : (
                    <>
                      {asked.version} {asked.detail}
                    </>
                  )}
                </span>
              </td>
            </tr>
          )
        })}
      </List>
    </>
  )
}

const lines = (text: string) => text.split(/[\s,]+/).filter((line) => line !== '')

function TransferForm({ name, transfers }: { name: string; transfers: Transfers }) {
  const [addresses, setAddresses] = useState(transfers.addresses.join('\n'))
  const [notify, setNotify] = useState(transfers.notify.join('\n'))
  const [tsig, setTsig] = useState(transfers.tsig)
  const [key, setKey] = useState<Schemas['TransferKey']>()
  const [former, setFormer] = useState(transfers)
  const [sent, setSent] = useState(transfers)
  const [said, setSaid] = useState('')
  const action = useAction()
  const save = async () => {
    setSaid('')
    const body = { addresses: lines(addresses), notify: lines(notify), tsig }
    setSent(body)
    const stored = await ask(api.PUT('/api/v1/domains/{name}/transfers/', { params: { path: { name } }, body }))
    setAddresses(stored.addresses.join('\n'))
    setNotify(stored.notify.join('\n'))
    if ('key' in stored) setKey(stored.key)
    else if (!stored.tsig) setKey(undefined)
    setFormer(stored)
    const isLess = (former.tsig && !stored.tsig) || former.addresses.some((each) => !stored.addresses.includes(each))
    setSaid(
      `Saved.${isLess ? ' A removed address or key can work for another minute.' : ''}${
        'key' in stored ? ' The new key is below: copy it now.' : ''
      }`,
    )
  }
  return (
    <>
      <p>
        Nameservers of your own can transfer the zone: from these addresses without a key, and with the TSIG key from
        everywhere.
      </p>
      <Form action={action} fields={['addresses', 'notify']} submit="Save" onSubmit={save}>
        <Field label="May transfer" hint="Addresses or networks, one a line, at most 8" rows={3} value={addresses}
          onText={setAddresses} problems={withItems(action.of('addresses'), sent.addresses)} />
        <Field label="Are told of changes" hint="By NOTIFY; addresses from above, at most 4" rows={3} value={notify}
          onText={setNotify} problems={withItems(action.of('notify'), sent.notify)} />
        <Checkbox label="With a TSIG key" checked={tsig} onCheck={setTsig} />
        {former.tsig && key === undefined && (
          <p class="quiet">Its key was shown once. For a new one, save without it, then with it.</p>
        )}
      </Form>
      <p role="status">{said}</p>
      {key !== undefined && <NewKey name={name} tsigKey={key} />}
    </>
  ) // prettier-ignore
}

/** A new key, which is shown this once, and the lines for three nameservers. */
function NewKey({ name, tsigKey }: { name: string; tsigKey: Schemas['TransferKey'] }) {
  const section = useRef<HTMLElement>(null)
  // It appears below what the window shows.
  useEffect(() => {
    section.current!.scrollIntoView()
    section.current!.focus()
  }, [tsigKey])
  return (
    <section aria-labelledby="tsig" tabIndex={-1} ref={section}>
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
