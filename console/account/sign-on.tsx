import { api, ask } from '../api/client.ts'
import { Act, Refusal, useAction } from '../kit/form.tsx'
import { Loaded, useAsked } from '../kit/loading.tsx'
import { Ago } from '../kit/time.tsx'

/** The link of the account with single sign-on, and its end. @param name of the issuer */
export function SignOnLink({ name }: { name: string }) {
  const action = useAction()
  const asked = useAsked(() => ask(api.GET('/api/v1/auth/oidc/link/')), [])
  const end = async () => {
    if (!window.confirm(`${name} will sign in to this account no more, and what it has signed in ends.`)) return
    await ask(api.DELETE('/api/v1/auth/oidc/link/'))
    asked.reload()
  }
  return (
    <Loaded asked={asked}>
      {({ last_used: used }) =>
        used === null ? (
          <p>Not linked. To link it, sign out, and sign in with {name}.</p>
        ) : (
          <>
            <p>
              {name} signs in to this account, last <Ago at={used} />.
            </p>
            <Refusal of={action} />
            <Act action={action} work={end}>
              End the link
            </Act>
          </>
        )
      }
    </Loaded>
  )
}
