import type { components } from '../../build/api-types.d.ts'
import { navigate } from '../router.ts'
import { onChange, Shared } from '../shared.ts'
import { api, ask, askAll, askPage, type Slice } from './client.ts'
import { begin, end, isLogin } from './me.ts'
import { backToOwn, session } from './session.ts'

// Members of an account, and acting for one (contract §19).

export type Member = components['schemas']['Member']
export type Membership = components['schemas']['Membership']

/** What happens to the API tokens that a member has made. */
type Fate = 'keep' | 'end'

/** The accounts for which the person of the session may act; undefined: not asked yet. */
export const memberships = new Shared<Membership[] | undefined>(undefined)

let asked: { secret: string | undefined; at: number } = { secret: undefined, at: 0 }

onChange(() => {
  if (session.value === undefined) memberships.value = undefined
})

/** One's own login, also while one acts for an account. */
const own = () => session.value!.acting?.own ?? session.value!.secret
const asOneself = () => ({ Authorization: `Token ${own()}` })

/** Asks for one's memberships, which API tokens have not. @throws Refused */
export async function loadMemberships(): Promise<void> {
  if (!isLogin()) return
  const { value } = session
  asked = { secret: value?.secret, at: Date.now() }
  const all = await askAll((cursor) =>
    askPage(api.GET('/api/v1/auth/memberships/', { params: { query: { cursor } }, headers: asOneself() })),
  )
  if (session.value === value) memberships.value = all
}

/** How long a list of memberships is shown: using one's own login meanwhile, too, keeps it from ending unused. */
const FRESH = 10 * 60_000

/** Asks for one's memberships, unless that was done lately for this session. @throws Refused */
export async function keepMemberships(): Promise<void> {
  if (asked.secret === session.value?.secret && Date.now() - asked.at < FRESH) return
  await loadMemberships()
}

/** Goes on for another account. @throws Refused */
export async function actFor({ id, account }: Membership): Promise<void> {
  const former = session.value!
  const { token } = await ask(
    api.POST('/api/v1/auth/memberships/{id}/token/', { params: { path: { id } }, headers: asOneself() }),
  )
  await begin(token, { account, own: own() })
  leave(former)
}

/** Goes on for one's own account. */
export function actForOneself(): void {
  const former = session.value!
  backToOwn()
  leave(former)
}

/** Ends a login for an account, and shows the first page of another one. */
function leave({ secret, acting }: NonNullable<typeof session.value>): void {
  // Whatever the service answers: it expires by itself.
  if (acting !== undefined) end(secret).catch(() => undefined)
  navigate('')
}

/** Ends a membership of one's own. @throws Refused */
export async function endMembership(id: string): Promise<void> {
  await ask(api.DELETE('/api/v1/auth/memberships/{id}/', { params: { path: { id } } }))
  await loadMemberships()
}

/** A page of the account's members and invitations, the newest first. @throws Refused */
export async function memberPage(cursor: string): Promise<Slice<Member>> {
  return askPage(api.GET('/api/v1/auth/members/', { params: { query: { cursor } } }))
}

/** The addresses of the members whose own accounts have no second factor. @throws Refused */
export async function membersWithoutFactor(): Promise<string[]> {
  const all = await askAll(memberPage)
  return all.flatMap(({ email, state, second_factor: has }) => (state === 'active' && !has ? email : []))
}

export async function invite(body: Pick<Member, 'email' | 'role' | 'domains'>): Promise<void> {
  await ask(api.POST('/api/v1/auth/members/', { body }))
}

export async function changeMember(id: string, tokens: Fate, body: Pick<Member, 'role' | 'domains'>): Promise<void> {
  await ask(api.PATCH('/api/v1/auth/members/{id}/', { params: { path: { id }, query: { tokens } }, body }))
}

export async function removeMember(id: string, tokens: Fate): Promise<void> {
  await ask(api.DELETE('/api/v1/auth/members/{id}/', { params: { path: { id }, query: { tokens } } }))
}
