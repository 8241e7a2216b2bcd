import { tagOfDomain } from '../../service/zone/conditions.ts'
import * as creation from '../../service/domains/creation.ts'
import * as domains from '../../service/domains/domains.ts'
import { withKeys } from '../../service/domains/keys.ts'
import { conditions, setTag } from '../kit/terms.ts'
import { answer, answerEmpty } from '../kit/answer.ts'
import { guard, parameter, type Context } from '../kit/context.ts'
import { answerList } from '../kit/paging.ts'
import { DOMAIN } from './domain-representation.ts'

export async function listDomains(ctx: Context): Promise<void> {
  const { system, actor } = ctx.state
  const qname = parameter(ctx, 'owns_qname')
  await answerList(ctx, {
    ids: 'numbers',
    filters: ['owns_qname'],
    page: (cursor) => domains.list(system, actor, { qname, cursor }),
    total: () => domains.count(system, actor),
    present: (domain) => DOMAIN.present(domain),
  })
}

/** To create a domain, requires that the account is below its limit (contract §1.2, step 5). */
export const refuseBeyondQuota = guard(
  async (ctx) => {
    if (ctx.method === 'POST') await creation.refuseBeyondQuota(ctx.state.system, ctx.state.actor)
  },
  { errors: { 403: ['Domain limit exceeded. Please contact support to create additional domains.'] } },
)

export async function createDomain(ctx: Context): Promise<void> {
  const { system, actor, body } = ctx.state
  const domain = await creation.create(system, actor, DOMAIN.read(body()))
  Object.assign(ctx.state, { domain, version: domain.version })
  answer(ctx, 201, DOMAIN.presentFull(domain))
}

export async function showDomain(ctx: Context): Promise<void> {
  const { system, actor } = ctx.state
  const domain = await domains.get(system, actor, ctx.params['name']!)
  const shown = await withKeys(system, domain)
  setTag(ctx, tagOfDomain(domain))
  answer(ctx, 200, DOMAIN.presentFull(shown))
}

export async function deleteDomain(ctx: Context): Promise<void> {
  const { system, actor } = ctx.state
  await domains.remove(system, actor, ctx.params['name']!, conditions(ctx))
  answerEmpty(ctx, 204)
}
