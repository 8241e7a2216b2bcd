import { useState } from 'preact/hooks'
import { api, ask } from '../api/client.ts'
import { Field, Form, useAction } from '../parts/form.tsx'
import { useAsked } from '../parts/loading.tsx'
import { navigate } from '../router.ts'

/** Deletes a domain whose name is typed. */
export function DeleteDomainPage({ name }: { name: string }) {
  const [typed, setTyped] = useState('')
  const action = useAction()
  const service = useAsked(() => ask(api.GET('/api/v1/service/')), [])
  const remove = async () => {
    await ask(api.DELETE('/api/v1/domains/{name}/', { params: { path: { name } } }))
    navigate(`?deleted=${name}`)
  }
  return (
    <>
      <div class="narrow">
        <p>
          This removes {name} with all its records from DNS. Who may create domains can bring it back, with its records
          and its keys{service.value && `, for ${service.value.history_days} days`}.
        </p>
        <Form action={action} submit={`Delete ${name}`} isReady={typed === name} isDangerous onSubmit={remove}>
          <Field label="Type the name of the domain" value={typed} onText={setTyped} autocomplete="off" />
        </Form>
      </div>
    </>
  )
}
