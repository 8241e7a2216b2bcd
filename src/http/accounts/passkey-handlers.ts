import { loginWithPasskey } from '../../service/accounts/logins.ts'
import * as passkeys from '../../service/accounts/passkeys.ts'
import { answer, answerUncached } from '../kit/answer.ts'
import { apiUrl, clientAddress } from '../kit/caller.ts'
import type { Context } from '../kit/context.ts'
import { deletion, ownedList } from '../kit/owned-list.ts'
import { requiredSite } from '../kit/passkey-site.ts'
import { TOKEN } from '../tokens/token-representation.ts'
import { NEW_PASSKEY, PASSKEY, SIGNED } from './passkey-representation.ts'

export const { list: listPasskeys, show: showPasskey } = ownedList(passkeys, (passkey) => PASSKEY.present(passkey))

export async function showCreationOptions(ctx: Context): Promise<void> {
  answerUncached(ctx, 200, await passkeys.creationOptions(ctx.state, requiredSite(ctx)))
}

export async function createPasskey(ctx: Context): Promise<void> {
  const site = requiredSite(ctx)
  const passkey = await passkeys.create(ctx.state, NEW_PASSKEY.read(ctx.state.body()), site, apiUrl(ctx))
  if (passkey === undefined) {
    answer(ctx, 202, { detail: 'This operation requires confirmation. Please check your mailbox for instructions!' })
  } else answer(ctx, 201, PASSKEY.present(passkey))
}

export async function changePasskey(ctx: Context): Promise<void> {
  const changed = await passkeys.change(ctx.state, ctx.params['id']!, () => PASSKEY.readForm(ctx.state.body()))
  answer(ctx, 200, PASSKEY.present(changed))
}

export const deletePasskey = deletion(passkeys.remove)

export async function showLoginOptions(ctx: Context): Promise<void> {
  const { system } = ctx.state
  answerUncached(ctx, 200, await passkeys.requestOptions({ system, actor: undefined }, requiredSite(ctx)))
}

export async function login(ctx: Context): Promise<void> {
  const { system, body } = ctx.state
  const site = requiredSite(ctx)
  const { token, secret } = await loginWithPasskey(system, SIGNED.read(body()).passkey, site, clientAddress(ctx))
  answerUncached(ctx, 200, TOKEN.presentFull({ ...token, secret }))
}

export async function showTokenOptions(ctx: Context): Promise<void> {
  answerUncached(ctx, 200, await passkeys.requestOptions(ctx.state, requiredSite(ctx)))
}

export async function verifyPasskey(ctx: Context): Promise<void> {
  const site = requiredSite(ctx)
  await passkeys.verify(ctx.state, SIGNED.read(ctx.state.body()).passkey, site)
  answer(ctx, 200, { detail: 'The passkey was correct.' })
}
