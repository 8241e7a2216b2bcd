import { useState } from 'preact/hooks'
import { api, ask } from '../api/client.ts'
import { bearer, mayDelete, noteDomains } from '../api/me.ts'
import { Note } from '../domains/note.tsx'
import { Field, Form, useAction } from '../kit/form.tsx'
import { Loaded, useAsked } from '../kit/loading.tsx'
import { Panel } from '../kit/panel.tsx'
import { Why } from '../kit/review.tsx'
import { Time } from '../kit/time.tsx'
import { navigate } from '../router.ts'
import { ttlWords } from '../rrsets/ttl.ts'

/** What holds for a domain as a whole, and its deletion. */
export function SettingsPage({ name }: { name: string }) {
  const asked = useAsked(() => ask(api.GET('/api/v1/domains/{name}/', { params: { path: { name } } })), [])
  return (
    <>
      <Loaded asked={asked}>
        {(domain) => (
          <>
            <Panel title="Note">
              <Note name={name} note={domain.note} isSuspended={domain.suspended !== undefined} />
            </Panel>
            <Panel title="This domain">
              <dl class="parts">
                <div>
                  <dt>Added</dt>
                  <dd>
                    <Time at={domain.created} />
                  </dd>
                </div>
                <div>
                  <dt>Shortest TTL</dt>
                  <dd>{ttlWords(domain.minimum_ttl)}, which the operator of the service can change</dd>
                </div>
              </dl>
            </Panel>
          </>
        )}
      </Loaded>
      <Panel title="Delete this domain" isDanger>
        {asked.value?.suspended ? (
          <p>While the operator has suspended it, nobody can delete {name}.</p>
        ) : mayDelete(name) ? (
          <Deletion name={name} />
        ) : (
          <p>
            {bearer()} may not delete {name}.
          </p>
        )}
      </Panel>
    </>
  )
}

/** What a deletion means, and the deletion of a domain whose name is typed. */
function Deletion({ name }: { name: string }) {
  const [typed, setTyped] = useState('')
  const action = useAction()
  const service = useAsked(() => ask(api.GET('/api/v1/service/')), [])
  const remove = async () => {
    await ask(api.DELETE('/api/v1/domains/{name}/', { params: { path: { name } } }))
    noteDomains({ by: -1 })
    navigate(`?deleted=${name}`)
  }
  return (
    <>
      <ul>
        <li>All its records leave DNS: web sites, mail and all else at {name} stop as caches forget them.</li>
        <li>What your registrar has stays. Remove the nameservers and the DS record there, too.</li>
        <li>
          {service.value ? `For ${service.value.history_days} days` : 'For some time'}, who may create domains can bring
          it back with its records, its history and its keys. Policies of tokens that name it do not come back.
        </li>
      </ul>
      <div class="narrow">
        <Form action={action} submit={`Delete ${name}`} isReady={typed === name} isDangerous onSubmit={remove}>
          <Why />
          <Field label="Type the name of the domain" value={typed} onText={setTyped} autocomplete="off" />
        </Form>
      </div>
    </>
  )
}
