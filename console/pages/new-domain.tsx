import { useState } from 'preact/hooks'
import { api, ask } from '../api/client.ts'
import { noteDomains } from '../api/me.ts'
import { Field, Form, useAction } from '../kit/form.tsx'
import { usePaused } from '../kit/use-paused.ts'
import { location, navigate } from '../router.ts'
import { Difference } from '../rrsets/difference.tsx'
import { mistakesOf, type Preview, previewOf } from '../rrsets/zonefile.ts'
import { ZonefileInput } from '../rrsets/zonefile-input.tsx'
import { typedName } from '../tokens/policies.ts'

/** Creates a domain, perhaps with the records of a zone file, which are shown before. */
export function NewDomainPage() {
  const [typed, setTyped] = useState('')
  const [zonefile, setZonefile] = useState('')
  const action = useAction()
  const isImport = location.value.query.has('zonefile')
  const name = typedName(typed)
  const isGiven = name !== '' && zonefile.trim() !== ''
  const preview = usePaused(() => (isGiven ? previewOf(zonefile, name) : undefined), [name, zonefile])
  const refused = action.of('zonefile')
  const create = async () => {
    const body = { name, ...(zonefile.trim() !== '' && { zonefile }) }
    const domain = await ask(api.POST('/api/v1/domains/', { body }))
    noteDomains({ by: 1 })
    navigate(`domains/${domain.name}`)
  }
  return (
    <>
      <h1 tabIndex={-1}>{isImport ? 'Import zone file' : 'Add domain'}</h1>
      {isImport && (
        <p>
          This adds a domain. To change one that is here, use the tab <b>Zone file</b> of its page.
        </p>
      )}
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
          judged={
            isGiven && preview
              ? {
                  mistakes: preview.mistakes.length === 0 ? mistakesOf(refused, zonefile, name) : preview.mistakes,
                  count: preview.changes.length,
                }
              : undefined
          }
          onText={(text) => {
            setZonefile(text)
            action.forget()
          }}
        />
      </Form>
      {isGiven && preview && <Imported domain={name} preview={preview} />}
    </>
  )
}

/** What the zone file brings. */
function Imported({ domain, preview: { changes, hints } }: { domain: string; preview: Preview }) {
  return (
    <section aria-labelledby="imported">
      <h2 id="imported">What the zone file brings</h2>
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
