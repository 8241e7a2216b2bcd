import { api, ask } from '../api/client.ts'
import { membersWithoutFactor } from '../api/members.ts'
import { Checkbox, Refusal, useAction } from '../parts/form.tsx'
import { Loaded, useAsked } from '../parts/loading.tsx'

/** Whether the account requires a second factor of its members. Who would be locked out is said before. */
export function RequiredFactor() {
  const action = useAction()
  const asked = useAsked(() => ask(api.GET('/api/v1/auth/account/')), [])
  const require = (isRequired: boolean) => {
    action.run(async () => {
      const lacking = isRequired ? await membersWithoutFactor() : []
      const text = `These members have no second factor here, and are locked out until they sign in with one: ${lacking.join(', ')}.`
      if (lacking.length > 0 && !window.confirm(text)) return
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
