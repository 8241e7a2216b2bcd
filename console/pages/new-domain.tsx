import { useState } from 'preact/hooks'
import { api, ask } from '../api/client.ts'
import { typedName } from '../model/policies.ts'
import { previewOf } from '../model/zonefile.ts'
import { navigate } from '../router.ts'
import { Difference } from '../parts/difference.tsx'
import { Field, Form, useAction } from '../parts/form.tsx'
import { Failure } from '../parts/loading.tsx'
import { ZonefileInput } from '../parts/zonefile-input.tsx'

/** Creates a domain, perhaps with the records of a zone file, which are shown before. */
export function NewDomainPage() {
  const [typed, setTyped] = useState('')
  const [zonefile, setZonefile] = useState('')
  const action = useAction()
  const name = typedName(typed)
  const create = async () => {
    const body = { name, ...(zonefile.trim() !== '' && { zonefile }) }
    const domain = await ask(api.POST('/api/v1/domains/', { body }))
    navigate(`domains/${domain.name}`)
  }
  const refused = action.of('zonefile')
  return (
    <>
      <h1 tabIndex={-1}>Add a domain</h1>
      <div class="narrow">
        <Form action={action} fields={['name', 'zonefile']} submit="Add the domain" onSubmit={create}>
          <Field
            label="Name"
            hint={name.includes('xn--') ? <span class="mono">{name}</span> : 'Such as example.org'}
            required
            value={typed}
            onText={setTyped}
            problems={action.of('name')}
          />
          <ZonefileInput label="Zone file, if there is one" rows={6} text={zonefile} onText={setZonefile} />
          {refused.length > 0 && (
            <div class="alert" role="alert">
              <ul>
                {refused.map((problem) => (
                  <li key={problem}>{problem}</li>
                ))}
              </ul>
            </div>
          )}
        </Form>
      </div>
      {name !== '' && zonefile.trim() !== '' && <Imported text={zonefile} domain={name} />}
    </>
  )
}

/** What the zone file brings, or why it cannot be read. */
function Imported({ text, domain }: { text: string; domain: string }) {
  const { changes, problems } = previewOf(text, domain)
  return (
    <section aria-labelledby="imported">
      <h2 id="imported">What the zone file brings</h2>
      {problems.map((problem) => (
        <Failure key={problem} problem={new Error(problem)} />
      ))}
      {changes.length > 0 && <Difference changes={changes} />}
    </section>
  )
}
