import * as members from '../../service/members/members.ts'
import * as memberships from '../../service/members/memberships.ts'
import { answer, answerEmpty, answerUncached } from '../kit/answer.ts'
import { apiUrl } from '../kit/caller.ts'
import type { Context } from '../kit/context.ts'
import { deletion, ownedList } from '../kit/owned-list.ts'
import { MEMBER, MEMBERSHIP, readFate } from './member-representation.ts'
import { TOKEN } from './token-representation.ts'

export const { list: listMembers, show: showMember } = ownedList(members, (member) => MEMBER.present(member))

export async function invite(ctx: Context): Promise<void> {
  const invitation = MEMBER.readForm(ctx.state.body(), ['email', 'role'])
  answer(ctx, 201, MEMBER.present(await members.invite(ctx.state, invitation, apiUrl(ctx))))
}

export async function changeMember(ctx: Context): Promise<void> {
  const input = () => MEMBER.readForm(ctx.state.body())
  answer(ctx, 200, MEMBER.present(await members.change(ctx.state, ctx.params['id']!, readFate(ctx), input)))
}

export async function removeMember(ctx: Context): Promise<void> {
  await members.remove(ctx.state, ctx.params['id']!, readFate(ctx))
  answerEmpty(ctx, 204)
}

export const { list: listMemberships, show: showMembership } = ownedList(memberships, (membership) =>
  MEMBERSHIP.present(membership),
)

export const leave = deletion(memberships.leave)

export async function openSession(ctx: Context): Promise<void> {
  const { token, secret } = await memberships.open(ctx.state, ctx.params['id']!)
  answerUncached(ctx, 201, TOKEN.presentFull({ ...token, secret }))
}
