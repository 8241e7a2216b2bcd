import { api, ask } from '../api/client.ts'
import { Checkbox, Refusal, useAction } from '../parts/form.tsx'
import { Loaded, useAsked } from '../parts/loading.tsx'

/** Whether the account requires a second factor of its members. */
export function RequiredFactor() {
  const action = useAction()
  const asked = useAsked(() => ask(api.GET('/api/v1/auth/account/')), [])
  const require = (isRequired: boolean) => {
    action.run(async () => {
      await ask(api.PATCH('/api/v1/auth/account/', { body: { require_mfa: isRequired } }))
      asked.reload()
    })
  }
  return (
    <Loaded asked={asked}>
      {({ require_mfa: isRequired = false }) => (
        <>
          <Refusal of={action} />
          <Checkbox label="Require a second factor of members" checked={isRequired} onCheck={require} />
          <p class="quiet">Whoever has signed in without one is locked out at once, until signing in with one.</p>
        </>
      )}
    </Loaded>
  )
}
