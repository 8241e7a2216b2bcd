import test from 'ava'
import { codeAt, stepAt } from '../../../src/service/accounts/totp-codes.ts'
import { decrypt } from '../../../src/service/secrets/encryption.ts'
import type { Client } from '../../support/clients/client.ts'
import { linkTo, person } from '../../support/clients/people.ts'
import { addToken, stopClocks } from '../../support/clients/tokens.ts'
import { depth } from '../../support/depth.ts'
import { useService } from '../../support/harness.ts'

// Of many requests that use a code or a link at once, exactly one succeeds.

const service = useService()

test.before('the clock stops', () => {
  stopClocks(service())
})

const login = { mfa: false, permManageTokens: true }

/** Sends twenty requests at once; returns how many answers have each status. */
async function twenty(send: () => Promise<{ status: number }>): Promise<Record<number, number>> {
  const answers = await Promise.all(Array.from({ length: 20 }, send))
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

async function unusedFactor(): Promise<{ id: string; code: (step: number) => string; api: Client; email: string }> {
  const { id: accountId, email } = await person(service())
  const { api } = await addToken(service(), accountId, login)
  await api.post('/auth/totp/')
  const { path } = await linkTo(service(), email)
  const { id } = (await service().anonymous.post(path)).json as { id: string }
  const [row] = await service().sql<{ secret: Buffer }>('select secret from totp_factors where id = :id', {
    id,
  })
  const secret = decrypt(service().system, { table: 'totp_factors', owner: id, ...row! })
  return { id, code: (step) => codeAt(secret, step), api, email }
}

for (let round = 1; round <= depth(2, 5); round++) {
  test.serial(`of twenty simultaneous uses of a code exactly one succeeds, round ${round}`, async (t) => {
    const { id, code, api } = await unusedFactor()
    const path = `/auth/totp/${id}/verify/`
    const step = stepAt(service().system.now())
    // The first use of a factor needs no token. The losers get 400 for the used code, or 401 because a token is needed now.
    const first = await twenty(() => service().anonymous.post(path, { code: code(step) }))
    t.is(first[200], 1)
    t.is((first[400] ?? 0) + (first[401] ?? 0), 19)
    const second = await twenty(() => api.post(path, { code: code(step + 1) }))
    t.deepEqual(second, { 200: 1, 400: 19 })
  })
}

test.serial('twenty simultaneous uses of a link create one factor', async (t) => {
  const { id, email } = await person(service())
  const { api } = await addToken(service(), id, login)
  await api.post('/auth/totp/')
  const { path } = await linkTo(service(), email)
  t.deepEqual(await twenty(() => service().anonymous.post(path)), { 200: 1, 409: 19 })
  t.is(((await api.get('/auth/totp/')).json as unknown[]).length, 1)
})

test.serial('of twenty simultaneous creations of factors with one name, exactly one succeeds', async (t) => {
  const { id, code, api } = await unusedFactor()
  await service().anonymous.post(`/auth/totp/${id}/verify/`, { code: code(stepAt(service().system.now())) })
  await api.post(`/auth/totp/${id}/verify/`, { code: code(stepAt(service().system.now()) + 1) })
  t.deepEqual(await twenty(() => api.post('/auth/totp/', { name: 'one' })), { 201: 1, 400: 19 })
})

test.serial('of twenty simultaneous renamings to one name, exactly one succeeds', async (t) => {
  const { id, code, api } = await unusedFactor()
  await service().anonymous.post(`/auth/totp/${id}/verify/`, { code: code(stepAt(service().system.now())) })
  await api.post(`/auth/totp/${id}/verify/`, { code: code(stepAt(service().system.now()) + 1) })
  // An account can have 20 factors.
  const made = await Promise.all(Array.from({ length: 19 }, (_, i) => api.post('/auth/totp/', { name: `n${i}` })))
  const ids = [id, ...made.map(({ json }) => (json as { id: string }).id)]
  const renamed = await twenty(() => api.patch(`/auth/totp/${ids.pop()!}/`, { name: 'one' }))
  t.deepEqual(renamed, { 200: 1, 400: 19 })
})
