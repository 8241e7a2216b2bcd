import { api, ask } from '../api/client.ts'
import { membersWithoutFactor } from '../api/members.ts'
import { Checkbox, Refusal, useAction } from '../kit/form.tsx'
import { Loaded, useAsked } from '../kit/loading.tsx'

/** What the account requires of people. Who would be locked out without a second factor is said before. */
export function Requirements() {
  const action = useAction()
  const asked = useAsked(() => ask(api.GET('/api/v1/auth/account/')), [])
  const require = (isRequired: boolean) => {
    action.run(async () => {
      const lacking = isRequired ? await membersWithoutFactor() : []
      const text = `These members have no second factor here, and are locked out until they sign in with one: ${lacking.join(', ')}.`
      if (lacking.length > 0 && !window.confirm(text)) return
      await change({ require_mfa: isRequired })
    })
  }
  const change = async (body: { require_mfa: boolean } | { require_message: boolean }) => {
    await ask(api.PATCH('/api/v1/auth/account/', { body }))
    asked.reload()
  }
  return (
    <Loaded asked={asked}>
      {({ require_mfa: isRequired = false, require_message: isAsked = false }) => (
        <>
          <Refusal of={action} />
          <Checkbox label="Require a second factor of members" checked={isRequired} onCheck={require} />
          <p class="quiet">Whoever has signed in without one is locked out at once, until signing in with one.</p>
          <Checkbox
            label="Require a reason for each change"
            checked={isAsked}
            onCheck={(wanted) => {
              action.run(() => change({ require_message: wanted }))
            }}
          />
          <p class="quiet">
            Whoever is signed in has to say why; it is in the history. Tokens have a setting of their own.
          </p>
        </>
      )}
    </Loaded>
  )
}
