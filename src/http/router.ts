import Router from '@koa/router'
import type { Config } from '../config.ts'
import { BODY_COLLECTION, BODY_FORM, BODY_RESOURCE } from '../limits.ts'
import { guard, type State } from './context.ts'
import {
  authenticate,
  authenticateForDomain,
  authenticateIfPresented,
  requires,
  requiresIfPresented,
} from './middleware/authenticate.ts'
import { authenticateForUpdate } from './middleware/authenticate-for-update.ts'
import { body } from './middleware/body.ts'
import { CHECK_IP_PATH, UPDATE_PATH } from './middleware/host-names.ts'
import { reportPublication } from './middleware/publication.ts'
import { throttle } from './middleware/throttle.ts'
import { RESET_PATH } from './middleware/apart-from-resets.ts'
import { addResource } from './resource.ts'
import * as accounts from './routes/accounts.ts'
import { createCaptcha } from './routes/captcha.ts'
import * as ci from './routes/ci.ts'
import * as confirmations from './routes/confirmations.ts'
import * as domains from './routes/domains.ts'
import * as dyndns from './routes/dyndns.ts'
import * as health from './routes/health.ts'
import * as history from './routes/history.ts'
import { showIndex } from './routes/index.ts'
import * as policies from './routes/policies.ts'
import { showPublication } from './routes/publication.ts'
import * as rrsets from './routes/rrsets.ts'
import * as tokens from './routes/tokens.ts'
import { changeTransfers, showTransfers } from './routes/transfers.ts'
import * as zonefiles from './routes/zonefiles.ts'
import * as totp from './routes/totp.ts'

/** Every path of the API, with its guards and the chain of each method. */
export function createRouter(config: Config): Router<State> {
  const router = new Router<State>({ sensitive: true })
  const resource = addResource.bind(undefined, router)

  const json = body(BODY_FORM)
  const jsonOrForm = body(BODY_FORM, { form: true })
  const resourceJson = body(BODY_RESOURCE)
  const collectionJson = body(BODY_COLLECTION, { required: true })
  const domainJson = body(config.bodyLimit)
  const zonefile = body(config.bodyLimit, { required: true, text: 'text/dns' })

  const active = throttle('account_management_active')
  const passive = throttle('account_management_passive')
  const domainRates = throttle({ reads: 'dns_api_cheap', writes: 'dns_api_expensive' })
  const rrsetScopes = {
    reads: 'dns_api_cheap',
    writes: 'dns_api_per_domain_expensive',
    dryRuns: 'dns_api_cheap',
  } as const
  const rrsetRates = throttle(rrsetScopes)

  const managing = [authenticate, requires('tokens'), passive]
  const managingFactors = [authenticate, requires('factors', { GET: 'factorReads', HEAD: 'factorReads' }), passive]

  resource('/healthz', [], { GET: [health.showLiveness] })
  resource('/readyz', [], { GET: [health.showReadiness] })
  resource('/api/v1', [authenticateIfPresented, throttle('user')], { GET: [showIndex] })

  // Where no token is required, a wrong method is refused first, and throttling is by address (contract §1.2, step 3).
  if (config.captcha) {
    resource('/api/v1/captcha', [], { POST: [passive, authenticateIfPresented, json, createCaptcha] })
  }
  resource('/api/v1/auth', [], {
    POST: [active, authenticateIfPresented, accounts.refuseClosedRegistration, json, accounts.register],
  })
  resource('/api/v1/auth/login', [], { POST: [passive, json, accounts.login] })
  resource('/api/v1/auth/logout', [authenticate, requires('logout')], { POST: [accounts.logout] })
  resource('/api/v1/auth/account', [authenticate, requires('account'), passive], {
    GET: [accounts.showAccount],
    PUT: [json, accounts.changeAccount],
    PATCH: [json, accounts.changeAccount],
  })
  resource('/api/v1/auth/account/change-email', [], { POST: [active, json, accounts.requestEmailChange] })
  resource('/api/v1/auth/account/reset-password', [], {
    POST: [active, authenticateIfPresented, json, accounts.requestPasswordReset],
  })
  resource('/api/v1/auth/account/delete', [], { POST: [active, json, accounts.requestDeletion] })
  resource('/api/v1/v/:action/:code', [confirmations.refuseUnknownAction, confirmations.answerFormWithPage], {
    GET: [passive, authenticateIfPresented, confirmations.showForm],
    POST: [active, authenticateIfPresented, jsonOrForm, confirmations.confirm],
  })

  resource('/api/v1/auth/totp', managingFactors, {
    GET: [totp.listFactors],
    POST: [json, totp.createFactor],
  })
  resource('/api/v1/auth/totp/:id', managingFactors, {
    GET: [totp.showFactor],
    PUT: [json, totp.changeFactor],
    PATCH: [json, totp.changeFactor],
    DELETE: [totp.deleteFactor],
  })
  resource('/api/v1/auth/totp/:id/verify', [authenticateIfPresented, requiresIfPresented('codes'), passive], {
    POST: [json, totp.verifyCode],
  })

  resource('/api/v1/auth/tokens', managing, {
    GET: [tokens.listTokens],
    POST: [resourceJson, tokens.createToken],
  })
  resource('/api/v1/auth/tokens/:id', managing, {
    GET: [tokens.showToken],
    PUT: [resourceJson, tokens.changeToken],
    PATCH: [resourceJson, tokens.changeToken],
    DELETE: [tokens.deleteToken],
  })
  resource('/api/v1/auth/tokens/:id/policies', managing, { GET: [policies.showPolicies] })
  resource('/api/v1/auth/tokens/:id/policies/rrsets', managing, {
    GET: [policies.listPolicies],
    POST: [resourceJson, policies.createPolicy],
  })
  resource('/api/v1/auth/tokens/:id/policies/rrsets/:policy', managing, {
    GET: [policies.showPolicy],
    PUT: [resourceJson, policies.changePolicy],
    PATCH: [resourceJson, policies.changePolicy],
    DELETE: [policies.deletePolicy],
  })

  resource(
    '/api/v1/domains',
    [authenticate, requires('reads', { POST: 'domainCreation' }), domains.refuseBeyondQuota, domainRates],
    {
      GET: [domains.listDomains],
      POST: [reportPublication, domainJson, domains.createDomain],
    },
  )
  const conditional = { conditional: true }
  resource(
    '/api/v1/domains/:name',
    [authenticate, requires('reads', { DELETE: 'domainDeletion' }), domainRates],
    {
      GET: [domains.showDomain],
      DELETE: [domains.deleteDomain],
    },
    conditional,
  )
  resource(
    '/api/v1/domains/:name/zonefile',
    [authenticateForDomain, throttle({ ...rrsetScopes, reads: 'dns_api_expensive' })],
    {
      GET: [zonefiles.exportZonefile],
      PUT: [reportPublication, zonefile, zonefiles.replaceZonefile],
    },
    conditional,
  )
  resource(
    '/api/v1/domains/:name/rrsets',
    [authenticateForDomain, rrsetRates, reportPublication],
    {
      GET: [rrsets.listRRsets],
      POST: [collectionJson, rrsets.writeRRsets],
      PUT: [collectionJson, rrsets.writeRRsets],
      PATCH: [collectionJson, rrsets.writeRRsets],
    },
    conditional,
  )
  resource(
    '/api/v1/domains/:name/rrsets/:subname/:type',
    [authenticateForDomain, rrsets.refuseAutomaticType, rrsetRates, reportPublication],
    {
      GET: [rrsets.showRRset],
      PUT: [resourceJson, rrsets.changeRRset],
      PATCH: [resourceJson, rrsets.changeRRset],
      DELETE: [rrsets.deleteRRset],
    },
    conditional,
  )

  resource('/api/v1/domains/:name/publication', [authenticateForDomain, throttle('dns_api_cheap')], {
    GET: [showPublication],
  })
  resource(
    '/api/v1/domains/:name/transfers',
    [authenticateForDomain, throttle({ reads: 'dns_api_cheap', writes: 'dns_api_per_domain_expensive' })],
    {
      GET: [showTransfers],
      PUT: [reportPublication, json, changeTransfers],
    },
  )
  resource('/api/v1/domains/:name/history', [authenticateForDomain, throttle('dns_api_cheap')], {
    GET: [history.listEntries],
  })
  resource('/api/v1/domains/:name/history/:id', [authenticateForDomain, throttle('dns_api_cheap')], {
    GET: [history.showEntry],
  })
  resource(
    '/api/v1/domains/:name/history/:id/undo',
    [authenticateForDomain, rrsetRates, reportPublication],
    { POST: [history.undoEntry] },
    conditional,
  )
  resource(
    '/api/v1/domains/:name/restore',
    [authenticateForDomain, rrsetRates, reportPublication],
    { POST: [json, history.restoreDomain] },
    conditional,
  )

  for (const path of ['/api/v1/dyndns/update', '/nic/update', UPDATE_PATH]) {
    // A wrong method is refused before the hosts are looked at (contract §10.1).
    const chain = [dyndns.findHosts, throttle('dyndns'), reportPublication, dyndns.update]
    resource(path, [authenticateForUpdate], { GET: chain }, { dyndns: true })
  }
  if (config.ciControl) {
    resource(RESET_PATH, [guard(ci.refusePages)], { POST: [ci.reset] })
    resource('/ci/accounts', [guard(ci.refusePages)], { POST: [ci.createAccount] })
  }
  resource(CHECK_IP_PATH, [], { GET: [dyndns.showAddress] }, { dyndns: true })
  return router
}
