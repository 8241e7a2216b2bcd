import Router from '@koa/router'
import type { Config } from '../settings/config.ts'
import { accountGroup } from './accounts/account-resource.ts'
import { PASSKEYS } from './accounts/passkey-resource.ts'
import { FACTORS } from './accounts/totp-resource.ts'
import { domainGroup } from './domains/domain-resource.ts'
import { DYNDNS } from './dyndns/dyndns-resource.ts'
import { HISTORY } from './history/history-resource.ts'
import type { State } from './kit/context.ts'
import { addResource, type Group } from './kit/resource.ts'
import { describeApi } from './openapi/document.ts'
import { documents } from './openapi/documents-resource.ts'
import { RRSETS } from './rrsets/rrset-resource.ts'
import { service } from './service/service-resource.ts'
import { SIGN_ON_GROUP } from './sign-on/sign-on-resource.ts'
import { MEMBERS } from './tokens/member-resource.ts'
import { POLICIES, TOKENS } from './tokens/token-resource.ts'

/** Creates the router with every path of the API, and the document that describes them. */
export function createRouter(config: Config): { router: Router<State>; document: Record<string, unknown> } {
  // The page of the API shows them in this order.
  const groups: Group[] = [
    domainGroup(config),
    RRSETS,
    HISTORY,
    DYNDNS,
    TOKENS,
    POLICIES,
    accountGroup(config),
    FACTORS,
    PASSKEYS,
    ...(config.oidcIssuer === undefined ? [] : [SIGN_ON_GROUP]),
    MEMBERS,
    service(
      config,
      documents(() => document),
    ),
  ]
  const document = describeApi(groups, config)
  const router = new Router<State>({ sensitive: true })
  for (const resource of groups.flatMap(({ resources }) => resources)) addResource(router, resource)
  return { router, document }
}
