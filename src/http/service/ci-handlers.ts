import { createTestAccount } from '../../service/ci/test-accounts.ts'
import { answer } from '../kit/answer.ts'
import { guard, type Context } from '../kit/context.ts'
import { Refusal } from '../kit/refusal.ts'

const REFUSAL = 'Web pages may not control the service.'

/** A page of any site could send these requests to a service on the developer's machine. */
export const refusePages = guard(
  (ctx) => {
    if (ctx.get('Origin') !== '') throw new Refusal(403, REFUSAL)
  },
  { errors: { 403: [REFUSAL] } },
)

/** Creates an account with a token, for one test (contract §15.8). */
export async function createAccount(ctx: Context): Promise<void> {
  answer(ctx, 201, await createTestAccount(ctx.state.system))
}
