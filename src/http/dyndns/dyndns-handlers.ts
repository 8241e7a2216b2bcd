import * as dyndns from '../../service/domains/dyndns.ts'
import { answerText } from '../kit/answer.ts'
import { clientAddress } from '../kit/caller.ts'
import { type Context, guard, parameters } from '../kit/context.ts'
import { presentGood, readHosts, readOwnHosts, readUpdates } from './dyndns-representation.ts'

/** Requires that all hosts to update are in one domain that the token may see (contract §10.3). */
export const findHosts = guard(
  async (ctx) => {
    const { user } = ctx.state
    const query = parameters(ctx)
    const hosts = readHosts(query, user) ?? [(await dyndns.onlyDomain(ctx.state)).name]
    ctx.state.hosts = hosts
    ctx.state.domain = await dyndns.domainOf(ctx.state, [...hosts, ...readOwnHosts(query)])
  },
  {
    errors: {
      400: [
        'Cannot update subdomains from more than one domain.',
        'Request does not properly specify domain for update.',
      ],
      404: ['nohost'],
    },
  },
)

export async function update(ctx: Context): Promise<void> {
  const updates = readUpdates(parameters(ctx), ctx.state.hosts, clientAddress(ctx))
  const { version } = await dyndns.update(ctx.state, updates)
  ctx.state.version = version
  answerText(ctx, 200, presentGood(updates))
}

/** Responds with the client's address (contract §10.1). */
export async function showAddress(ctx: Context): Promise<void> {
  answerText(ctx, 200, clientAddress(ctx))
}
