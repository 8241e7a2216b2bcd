import Router from '@koa/router'
import type { Config } from '../config.ts'
import { BODY_COLLECTION, BODY_FORM, BODY_RESOURCE } from '../limits.ts'
import type { State } from './context.ts'
import {
  authenticate,
  authenticateBeforeMfa,
  authenticateIfPresented,
  refuseRestricted,
  requires,
} from './middleware/authenticate.ts'
import { authenticateForUpdate } from './middleware/authenticate-for-update.ts'
import { body } from './middleware/body.ts'
import { authenticateForDomain } from './middleware/authenticate-for-domain.ts'
import { CHECK_IP_PATH, UPDATE_PATH } from './middleware/host-names.ts'
import { throttle } from './middleware/throttle.ts'
import { addResource, type Resource } from './resource.ts'
import * as accounts from './routes/accounts.ts'
import { createCaptcha } from './routes/captcha.ts'
import * as confirmations from './routes/confirmations.ts'
import * as domains from './routes/domains.ts'
import * as dyndns from './routes/dyndns.ts'
import * as health from './routes/health.ts'
import { showIndex } from './routes/index.ts'
import * as policies from './routes/policies.ts'
import * as rrsets from './routes/rrsets.ts'
import * as tokens from './routes/tokens.ts'
import * as zonefiles from './routes/zonefiles.ts'
import * as totp from './routes/totp.ts'

/** Every path of the API. */
export function createRouter(config: Config): Router<State> {
  const json = body(BODY_FORM)
  const jsonOrForm = body(BODY_FORM, { form: true })
  const resourceJson = body(BODY_RESOURCE)
  const collectionJson = body(BODY_COLLECTION, { required: true })
  const domainJson = body(config.bodyLimit)
  // Behind the method, because who presents no token is not known before (contract §1.2, step 3).
  const passive = throttle('account_management_passive')
  const active = throttle('account_management_active')
  const captcha: Resource = {
    path: '/api/v1/captcha',
    guards: [],
    methods: { POST: [passive, authenticateIfPresented, json, createCaptcha] },
  }
  const managing = [authenticate, requires('permManageTokens'), throttle('account_management_passive')]
  const resources: Resource[] = [
    { path: '/healthz', guards: [], methods: { GET: [health.showLiveness] } },
    { path: '/readyz', guards: [], methods: { GET: [health.showReadiness] } },
    { path: '/api/v1', guards: [authenticateIfPresented, throttle('user')], methods: { GET: [showIndex] } },
    ...(config.captcha ? [captcha] : []),
    {
      path: '/api/v1/auth',
      guards: [],
      methods: { POST: [active, authenticateIfPresented, accounts.refuseClosedRegistration, json, accounts.register] },
    },
    { path: '/api/v1/auth/login', guards: [], methods: { POST: [passive, json, accounts.login] } },
    { path: '/api/v1/auth/logout', guards: [authenticateBeforeMfa], methods: { POST: [accounts.logout] } },
    {
      path: '/api/v1/auth/account',
      guards: [authenticate, requires('permManageTokens'), refuseRestricted, throttle('account_management_passive')],
      methods: {
        GET: [accounts.showAccount],
        PUT: [json, accounts.changeAccount],
        PATCH: [json, accounts.changeAccount],
      },
    },
    {
      path: '/api/v1/auth/account/change-email',
      guards: [],
      methods: { POST: [active, json, accounts.requestEmailChange] },
    },
    {
      path: '/api/v1/auth/account/reset-password',
      guards: [],
      methods: { POST: [active, authenticateIfPresented, json, accounts.requestPasswordReset] },
    },
    {
      path: '/api/v1/auth/account/delete',
      guards: [],
      methods: { POST: [active, json, accounts.requestDeletion] },
    },
    {
      path: '/api/v1/auth/totp',
      guards: [authenticateBeforeMfa, totp.requireLogin, requires('permManageTokens'), refuseRestricted, passive],
      methods: { GET: [totp.listFactors], POST: [json, totp.createFactor] },
    },
    {
      path: '/api/v1/auth/totp/:id',
      guards: [authenticateBeforeMfa, totp.requireLogin, requires('permManageTokens'), refuseRestricted, passive],
      methods: {
        GET: [totp.showFactor],
        PUT: [json, totp.changeFactor],
        PATCH: [json, totp.changeFactor],
        DELETE: [totp.deleteFactor],
      },
    },
    {
      path: '/api/v1/auth/totp/:id/verify',
      guards: [authenticateIfPresented, totp.requireLoginIfPresented, passive],
      methods: { POST: [json, totp.verifyCode] },
    },
    {
      path: '/api/v1/v/:action/:code',
      guards: [confirmations.refuseUnknownAction, confirmations.answerFormWithPage],
      methods: {
        GET: [passive, authenticateIfPresented, confirmations.showForm],
        POST: [active, authenticateIfPresented, jsonOrForm, confirmations.confirm],
      },
    },
    {
      path: '/api/v1/auth/tokens',
      guards: managing,
      methods: { GET: [tokens.listTokens], POST: [resourceJson, tokens.createToken] },
    },
    {
      path: '/api/v1/auth/tokens/:id',
      guards: managing,
      methods: {
        GET: [tokens.showToken],
        PUT: [resourceJson, tokens.changeToken],
        PATCH: [resourceJson, tokens.changeToken],
        DELETE: [tokens.deleteToken],
      },
    },
    {
      path: '/api/v1/auth/tokens/:id/policies',
      guards: managing,
      methods: { GET: [policies.showPolicies] },
    },
    {
      path: '/api/v1/auth/tokens/:id/policies/rrsets',
      guards: managing,
      methods: { GET: [policies.listPolicies], POST: [resourceJson, policies.createPolicy] },
    },
    {
      path: '/api/v1/auth/tokens/:id/policies/rrsets/:policy',
      guards: managing,
      methods: {
        GET: [policies.showPolicy],
        PUT: [resourceJson, policies.replacePolicy],
        PATCH: [resourceJson, policies.patchPolicy],
        DELETE: [policies.deletePolicy],
      },
    },
    {
      path: '/api/v1/domains',
      guards: [
        authenticate,
        requires({ POST: 'permCreateDomain' }),
        domains.refuseBeyondQuota,
        throttle({ reads: 'dns_api_cheap', writes: 'dns_api_expensive' }),
      ],
      methods: {
        GET: [domains.listDomains],
        POST: [domainJson, domains.createDomain],
      },
    },
    {
      path: '/api/v1/domains/:name',
      guards: [
        authenticate,
        requires({ DELETE: 'permDeleteDomain' }),
        throttle({ reads: 'dns_api_cheap', writes: 'dns_api_expensive' }),
      ],
      methods: {
        GET: [domains.showDomain],
        DELETE: [domains.deleteDomain],
      },
    },
    {
      path: '/api/v1/domains/:name/zonefile',
      guards: [authenticateForDomain, throttle('dns_api_expensive')],
      methods: { GET: [zonefiles.exportZonefile] },
    },
    {
      path: '/api/v1/domains/:name/rrsets',
      guards: [authenticateForDomain, throttle({ reads: 'dns_api_cheap', writes: 'dns_api_per_domain_expensive' })],
      methods: {
        GET: [rrsets.listRRsets],
        POST: [collectionJson, rrsets.createRRsets],
        PUT: [collectionJson, rrsets.replaceRRsets],
        PATCH: [collectionJson, rrsets.patchRRsets],
      },
    },
    {
      path: '/api/v1/domains/:name/rrsets/:subname/:type',
      guards: [
        authenticateForDomain,
        rrsets.refuseAutomaticType,
        throttle({ reads: 'dns_api_cheap', writes: 'dns_api_per_domain_expensive' }),
      ],
      methods: {
        GET: [rrsets.showRRset],
        PUT: [resourceJson, rrsets.replaceRRset],
        PATCH: [resourceJson, rrsets.patchRRset],
        DELETE: [rrsets.deleteRRset],
      },
    },
    ...['/api/v1/dyndns/update', '/nic/update', UPDATE_PATH].map((path) => ({
      path,
      dyndns: true,
      guards: [authenticateForUpdate, dyndns.findHosts, throttle('dyndns')],
      methods: { GET: [dyndns.update] },
    })),
    { path: CHECK_IP_PATH, dyndns: true, guards: [], methods: { GET: [dyndns.showAddress] } },
  ]
  const router = new Router<State>({ sensitive: true })
  for (const resource of resources) addResource(router, resource)
  return router
}
