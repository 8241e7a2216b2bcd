import test from 'ava'
import { useService } from '../support/harness.ts'
import { startService } from '../support/servers/service.ts'

// What the service offers (contract §13).

const service = useService()

const PATH = '/service/'

const USUAL = {
  registration: false,
  email_confirmation: true,
  captcha: false,
  totp: true,
  passwords: true,
  single_sign_on: null,
  local_public_suffixes: [],
  nameservers: ['ns1.zoneplane.test.', 'ns2.zoneplane.test.'],
  minimum_ttl: 60,
  history_days: 90,
  passkeys: false,
  delegation_checks: false,
}

test('everybody may see what the service offers, and keep it for five minutes', async (t) => {
  const { status, text, headers } = await service().anonymous.get(PATH)
  t.deepEqual([status, text], [200, JSON.stringify(USUAL)])
  t.is(headers['cache-control'], 'public, max-age=300')
})

test('the answer is the same for everybody, whatever the token', async (t) => {
  const { api } = await service().account()
  t.is((await api.get(PATH)).text, JSON.stringify(USUAL))
  const headers = { authorization: 'Token unknown' }
  t.is((await service().anonymous.get(PATH, { headers })).text, JSON.stringify(USUAL))
})

test('the answer follows the settings', async (t) => {
  const { anonymous, stop } = await startService(service().backends, {
    REGISTRATION: 'open',
    EMAIL_CONFIRMATION: 'off',
    CAPTCHA: 'on',
    LOCAL_PUBLIC_SUFFIXES: 'dyn.zoneplane.test',
    NAMESERVERS: 'ns.zoneplane.test',
    MINIMUM_TTL: '300',
    HISTORY_DAYS: '7',
    DELEGATION_CHECKS: 'on',
  })
  try {
    t.deepEqual((await anonymous.get(PATH)).json, {
      ...USUAL,
      registration: true,
      email_confirmation: false,
      captcha: true,
      local_public_suffixes: ['dyn.zoneplane.test'],
      nameservers: ['ns.zoneplane.test.'],
      minimum_ttl: 300,
      history_days: 7,
      delegation_checks: true,
    })
  } finally {
    await stop()
  }
})
