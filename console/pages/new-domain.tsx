import { useState } from 'preact/hooks'
import { api, ask } from '../api/client.ts'
import { noteDomains } from '../api/me.ts'
import { typedName } from '../model/policies.ts'
import { previewOf } from '../model/zonefile.ts'
import { Difference } from '../parts/difference.tsx'
import { Field, Form, useAction } from '../parts/form.tsx'
import { Failure } from '../parts/loading.tsx'
import { ZonefileInput } from '../parts/zonefile-input.tsx'
import { location, navigate } from '../router.ts'

/** Creates a domain, perhaps with the records of a zone file, which are shown before. */
export function NewDomainPage() {
  const [typed, setTyped] = useState('')
  const [zonefile, setZonefile] = useState('')
  const action = useAction()
  const isImport = location.value.query.has('zonefile')
  const name = typedName(typed)
  const create = async () => {
    const body = { name, ...(zonefile.trim() !== '' && { zonefile }) }
    const domain = await ask(api.POST('/api/v1/domains/', { body }))
    noteDomains({ by: 1 })
    navigate(`domains/${domain.name}`)
  }
  return (
    <>
      <h1 tabIndex={-1}>{isImport ? 'Import zone file' : 'Add domain'}</h1>
      <Form action={action} fields={['name', 'zonefile']} submit="Add the domain" onSubmit={create}>
        <div class="narrow">
          <Field
            label="Name"
            hint={name.includes('xn--') ? <span class="mono">{name}</span> : 'Such as example.org'}
            required
            value={typed}
            onText={setTyped}
            problems={action.of('name')}
          />
        </div>
        <ZonefileInput
          label={isImport ? 'Zone file' : 'Zone file, if there is one'}
          rows={6}
          text={zonefile}
          onText={(text) => {
            setZonefile(text)
            action.forget()
          }}
        />
      </Form>
      {name !== '' && zonefile.trim() !== '' && (
        <Imported text={zonefile} domain={name} refused={action.of('zonefile')} />
      )}
    </>
  )
}

/**
 * What the zone file brings, or why it cannot be read.
 * @param props.refused the problems that the service finds: those that the browser finds are the same, and say more
 */
function Imported({ text, domain, refused }: { text: string; domain: string; refused: string[] }) {
  const { changes, problems, hints } = previewOf(text, domain)
  return (
    <section aria-labelledby="imported">
      <h2 id="imported">What the zone file brings</h2>
      {(problems.length > 0 ? problems : refused).map((problem) => (
        <Failure key={problem} problem={new Error(problem)} />
      ))}
      <p>
        The service itself writes SOA, NS at {domain}, and all DNSSEC records but DS: those of the file are left out.
      </p>
      {hints.length > 0 && (
        <div class="note">
          <ul>
            {hints.map((hint) => (
              <li key={hint}>{hint}</li>
            ))}
          </ul>
        </div>
      )}
      {changes.length > 0 && <Difference changes={changes} />}
    </section>
  )
}
