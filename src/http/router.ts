import Router from '@koa/router'
import type { Config } from '../config.ts'
import type { State } from './context.ts'
import { describeApi } from './openapi/document.ts'
import { showDocument } from './openapi/serve.ts'
import { addResource, type Group } from './resource.ts'
import { accountGroup } from './resources/accounts.ts'
import { documents } from './resources/documents.ts'
import { domainGroup } from './resources/domains.ts'
import { DYNDNS } from './resources/dyndns.ts'
import { FACTORS } from './resources/factors.ts'
import { HISTORY } from './resources/history.ts'
import { RRSETS } from './resources/rrsets.ts'
import { service } from './resources/service.ts'
import { POLICIES, TOKENS } from './resources/tokens.ts'

/** Every path of the API, and the document that describes them. */
export function createRouter(config: Config): { router: Router<State>; document: Record<string, unknown> } {
  const groups: Group[] = [
    service(config, documents(showDocument(() => document))),
    accountGroup(config),
    FACTORS,
    TOKENS,
    POLICIES,
    domainGroup(config),
    RRSETS,
    HISTORY,
    DYNDNS,
  ]
  const document = describeApi(groups, config)
  const router = new Router<State>({ sensitive: true })
  for (const resource of groups.flatMap(({ resources }) => resources)) addResource(router, resource)
  return { router, document }
}
