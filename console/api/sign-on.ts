import { keep, read } from '../kept.ts'
import { location, navigate } from '../router.ts'
import { onChange, Shared } from '../shared.ts'
import { api, ask, Refused } from './client.ts'
import { begin, me } from './me.ts'
import { session } from './session.ts'

// Single sign-on (contract §11.4): the tab leaves for the issuer, and comes back with a code.

/** An identity that its account's owner has to link, and what pages say of it; without a code: what became of that. */
interface Linking {
  code?: string
  text: string
}

const LINKING = 'zoneplane link'
const PLACE = 'zoneplane place'

export const linking = new Shared(read(LINKING) as Linking | undefined)

onChange(() => {
  keep(LINKING, linking.value)
})

/** Leaves for the issuer. @throws Refused */
export async function leave(): Promise<void> {
  const { url } = await ask(api.POST('/api/v1/auth/oidc/'))
  keep(PLACE, location.value.path)
  window.location.assign(url)
  // The button stays as it is until the page is gone.
  await new Promise(() => undefined)
}

/** Begins the session for which the callback has left a code, and goes on where the tab was. @throws Refused */
export async function comeBack(): Promise<void> {
  const code = window.location.hash.slice(1)
  // The code is of no use any more, and in no history.
  window.history.replaceState(null, '', window.location.pathname)
  const place = (read(PLACE) as string | undefined) ?? ''
  try {
    if (code !== '') await begin((await ask(api.POST('/api/v1/auth/oidc/token/', { body: { code } }))).token)
    linking.value = undefined
  } catch (reason) {
    if (!(reason instanceof Refused) || reason.status !== 409) throw reason
    session.value = undefined
    linking.value = { code, text: reason.message }
  }
  keep(PLACE, undefined)
  navigate(place, { replace: true })
}

/** Links the identity that waits with the account of the session, which has just begun. */
export async function link(): Promise<void> {
  const code = linking.value?.code
  if (code === undefined) return
  linking.value = await ask(api.POST('/api/v1/auth/oidc/link/', { body: { code } })).then(
    () => ({ text: `From now on, single sign-on signs you in as ${me.value!.account.email}.` }),
    (reason: unknown) => ({ text: (reason as Error).message }),
  )
}
