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
import { powerdnsApi } from './powerdns-api/powerdns-api-resource.ts'
import { RRSETS } from './rrsets/rrset-resource.ts'
import { service } from './service/service-resource.ts'
import { SIGN_ON_GROUP } from './sign-on/sign-on-resource.ts'
import { MEMBERS } from './tokens/member-resource.ts'
import { POLICIES, TOKENS } from './tokens/token-resource.ts'
import { WEBHOOKS } from './webhooks/webhook-resource.ts'

/** The router with every path, the document that describes the API, and what makes that of PowerDNS' API, if served. */
export interface Routing {
  router: Router<State>
  document: Record<string, unknown>
  describePowerdns: (() => Record<string, unknown>) | undefined
}

export function createRouter(config: Config): Routing {
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
    ...(config.webhooks ? [WEBHOOKS] : []),
    service(
      config,
      documents(() => document),
    ),
  ]
  const document = describeApi(groups, config)
  const router = new Router<State>({ sensitive: true })
  const powerdns = config.powerdnsApi ? powerdnsApi(config) : undefined
  const served = [...groups, ...(powerdns?.groups ?? [])]
  for (const resource of served.flatMap(({ resources }) => resources)) addResource(router, resource)
  return { router, document, describePowerdns: powerdns?.describe }
}
