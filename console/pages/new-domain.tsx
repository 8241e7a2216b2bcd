import { useState } from 'preact/hooks'
import { api, ask } from '../api/client.ts'
import { navigate } from '../router.ts'
import { Field, Form, useAction } from '../parts/form.tsx'

/** Creates a domain, perhaps with the records of a zone file. */
export function NewDomainPage() {
  const [name, setName] = useState('')
  const action = useAction()
  const create = async () => {
    const domain = await ask(api.POST('/api/v1/domains/', { body: { name: name.trim().replace(/\.$/, '') } }))
    navigate(`domains/${domain.name}`)
  }
  return (
    <div class="narrow">
      <h1 tabIndex={-1}>Add a domain</h1>
      <Form action={action} fields={['name']} submit="Add the domain" onSubmit={create}>
        <Field label="Name" hint="Such as example.org" required value={name}
          onText={setName} problems={action.of('name')} />
      </Form>
    </div>
  ) // prettier-ignore
}
