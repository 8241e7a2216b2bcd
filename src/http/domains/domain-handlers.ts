import { Invalid } from '../../errors.ts'
import { PUBLICATION_WAIT } from '../../limits.ts'
import * as creation from '../../service/domains/creation.ts'
import * as deletedDomains from '../../service/domains/deleted-domains.ts'
import * as domains from '../../service/domains/domains.ts'
import { withKeys } from '../../service/domains/keys.ts'
import * as overviews from '../../service/domains/overviews.ts'
import { statusOf, versionOf } from '../../service/domains/serving-status.ts'
import { tagOfDomain } from '../../service/rrsets/conditions.ts'
import { authorise } from '../../service/tokens/rights.ts'
import { readTime } from '../../time.ts'
import { answer, answerEmpty } from '../kit/answer.ts'
import { type Context, flag, guard, parameter } from '../kit/context.ts'
import { answerList } from '../kit/paging.ts'
import { conditions, setTag } from '../kit/terms.ts'
import { patience } from '../middleware/report-publication.ts'
import { DELETED_DOMAIN } from './deleted-domain-representation.ts'
import { DOMAIN, DOMAIN_CHANGE } from './domain-representation.ts'
import { OVERVIEW } from './overview-representation.ts'
import { PUBLICATION } from './publication-representation.ts'

/** Requires, to list deleted domains, the right to restore them (contract §1.2, step 5). */
export const refuseListOfDeleted = guard((ctx) => {
  if (parameter(ctx, 'deleted') === 'true') authorise(ctx.state.actor, 'domainCreation')
}, {})

export async function listDomains(ctx: Context): Promise<void> {
  const isOfDeleted = flag(ctx, 'deleted')
  const wantsOverview = flag(ctx, 'overview')
  const qname = parameter(ctx, 'owns_qname')
  const search = parameter(ctx, 'search')
  if (isOfDeleted) {
    if (qname !== undefined) throw Invalid.field('owns_qname', 'Cannot be combined with deleted.')
    if (wantsOverview) throw Invalid.field('overview', 'Cannot be combined with deleted.')
    return answerList(ctx, {
      ids: 'numbers',
      filters: ['deleted', 'search'],
      page: (cursor) => deletedDomains.list(ctx.state, search, cursor),
      total: () => deletedDomains.count(ctx.state, search),
      present: (domain) => DELETED_DOMAIN.present(domain),
    })
  }
  const listing = {
    ids: 'numbers',
    filters: ['deleted', 'overview', 'owns_qname', 'search'],
    total: () => domains.count(ctx.state, search),
  } as const
  if (wantsOverview)
    return answerList(ctx, {
      ...listing,
      page: (cursor) => overviews.list(ctx.state, { qname, search }, cursor),
      present: (overview) => OVERVIEW.present(overview),
    })
  await answerList(ctx, {
    ...listing,
    page: (cursor) => domains.list(ctx.state, { qname, search }, cursor),
    present: (domain) => DOMAIN.present(domain),
  })
}

/** Requires, to create a domain, that the account is below its limit (contract §1.2, step 5). */
export const refuseBeyondQuota = guard(
  async (ctx) => {
    if (ctx.method === 'POST') await creation.refuseBeyondQuota(ctx.state.system, ctx.state.actor)
  },
  { errors: { 403: ['Domain limit exceeded. Please contact support to create additional domains.'] } },
)

export async function createDomain(ctx: Context): Promise<void> {
  const { system, actor, body } = ctx.state
  const { at, ...input } = DOMAIN.read(body())
  const domain = await creation.create(system, actor, at === undefined ? input : { ...input, at: readTime(at)! })
  Object.assign(ctx.state, { domain, version: domain.version })
  answer(ctx, 201, DOMAIN.presentFull(domain))
}

export async function showDomain(ctx: Context): Promise<void> {
  const { system } = ctx.state
  const domain = await domains.get(ctx.state, ctx.params['name']!)
  const shown = await withKeys(system, domain)
  setTag(ctx, tagOfDomain(domain))
  answer(ctx, 200, DOMAIN.presentFull(shown))
}

/** Requires that the domain in the path is visible to the token (contract §1.2, step 8). */
export const findDomain = guard(async (ctx) => {
  ctx.state.domain = await domains.get(ctx.state, ctx.params['name']!)
}, {})

export async function changeDomain(ctx: Context): Promise<void> {
  const { note } = DOMAIN_CHANGE.read(ctx.state.body())
  const domain = await domains.setNote(ctx.state, note, conditions(ctx))
  setTag(ctx, tagOfDomain(domain))
  answer(ctx, 200, DOMAIN.present(domain))
}

export async function deleteDomain(ctx: Context): Promise<void> {
  await domains.remove(ctx.state, ctx.params['name']!, conditions(ctx))
  answerEmpty(ctx, 204)
}

export async function showPublication(ctx: Context): Promise<void> {
  const { system, domain } = ctx.state
  const publication = versionOf(domain, integer(ctx, 'version', 'A valid integer is required.'))
  const wait = Math.min(integer(ctx, 'wait', 'Must be a whole number of seconds.') ?? 0, PUBLICATION_WAIT)
  answer(ctx, 200, PUBLICATION.present(await statusOf(system, publication, patience(ctx, wait))))
}

/** @throws Invalid with the message if the query parameter is not a whole number */
function integer(ctx: Context, name: string, message: string): number | undefined {
  const text = parameter(ctx, name)
  if (text === undefined) return undefined
  if (!/^\d+$/.test(text)) throw Invalid.field(name, message)
  return Number(text)
}
