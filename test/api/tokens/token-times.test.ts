import { query } from '../../../src/store/database.ts'
import type { Account } from '../../support/clients/accounts.ts'
import { succeeded } from '../../support/clients/api.ts'
import { Client } from '../../support/clients/client.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §5.5 and `last_used` (§3.1), with a clock that the tests set.

const service = useService()

const CREATED = '2030-01-01T00:00:00.000001Z'

function setClock(time: string): void {
  service().system.now = () => time
}

interface Shown {
  id: string
  created: string
  last_used: string | null
  is_valid: boolean
  token: string
}

/** A token that is created at CREATED, its account, and ways to read it. */
async function made(members: object) {
  setClock(CREATED)
  const account: Account = await service().account()
  const shown = succeeded(await account.api.post('/auth/tokens/', members), 201).json as Shown
  const path = `/auth/tokens/${shown.id}/`
  return {
    account,
    shown,
    path,
    api: new Client(service().url, shown.token),
    read: async () => succeeded(await account.api.get(path), 200).json as Shown,
  }
}

test('times keep their microseconds', async (t) => {
  const { shown, api, read } = await made({})
  t.is(shown.created, CREATED)
  setClock('2030-01-01T00:00:00.000010Z')
  t.is((await api.get('/domains/')).status, 200)
  t.is((await read()).last_used, '2030-01-01T00:00:00.000010Z')
  setClock('2030-01-01T00:00:01.000000Z')
  t.is((await api.get('/domains/')).status, 200)
  t.is((await read()).last_used, '2030-01-01T00:00:01.000000Z')
})

test('a token is valid until its age exceeds max_age, to the microsecond, however it is used', async (t) => {
  const { api, read } = await made({ max_age: '1 00:00:00.000001' })
  for (const [time, valid] of [
    ['2030-01-01T12:00:00.000000Z', true],
    ['2030-01-02T00:00:00.000002Z', true],
    ['2030-01-02T00:00:00.000003Z', false],
  ] as const) {
    setClock(time)
    t.is((await read()).is_valid, valid, time)
    t.is((await api.get('/domains/')).status, valid ? 200 : 401, time)
  }
  t.is((await read()).last_used, '2030-01-02T00:00:00.000002Z')
})

test('a token is valid until it was unused for longer than max_unused_period', async (t) => {
  const { api, read } = await made({ max_unused_period: 3600 })
  for (const [time, valid] of [
    ['2030-01-01T01:00:00.000001Z', true],
    ['2030-01-01T02:00:00.000001Z', true],
    ['2030-01-01T03:00:00.000002Z', false],
    ['2030-01-01T02:30:00.000000Z', true],
  ] as const) {
    setClock(time)
    t.is((await read()).is_valid, valid, time)
    t.is((await api.get('/domains/')).status, valid ? 200 : 401, time)
  }
})

test('a token is invalid once one of its limits is exceeded', async (t) => {
  const { api, read } = await made({ max_age: 7200, max_unused_period: 3600 })
  for (const [time, valid] of [
    ['2030-01-01T01:00:00.000001Z', true],
    ['2030-01-01T02:00:00.000001Z', true],
    ['2030-01-01T02:00:00.000002Z', false],
  ] as const) {
    setClock(time)
    t.is((await read()).is_valid, valid, time)
    t.is((await api.get('/domains/')).status, valid ? 200 : 401, time)
  }
})

test('max_unused_period counts from the creation of a token that was never used', async (t) => {
  const { api, read } = await made({ max_unused_period: '00:00:10' })
  setClock('2030-01-01T00:00:10.000002Z')
  t.false((await read()).is_valid)
  t.is((await api.get('/domains/')).text, '{"detail":"Invalid token."}')
  t.is((await read()).last_used, null)
})

for (const [settings, revival] of [
  [{ max_age: '0' }, { max_age: null }],
  [{ max_age: 60 }, { max_age: '10 00:00:00' }],
  [{ max_unused_period: 60 }, { max_unused_period: null }],
  [
    { max_unused_period: 60, max_age: 60 },
    { max_unused_period: '10 00:00:00', max_age: '10 00:00:00' },
  ],
] as const) {
  test(`a change of its limits makes an expired token valid again: ${JSON.stringify([settings, revival])}`, async (t) => {
    const { account, api, path, read } = await made(settings)
    setClock('2030-01-02T00:00:00.000000Z')
    t.false((await read()).is_valid)
    t.is((await api.get('/domains/')).status, 401)
    const revived = await account.api.patch(path, revival)
    t.true((revived.json as Shown).is_valid)
    t.is((await api.get('/domains/')).status, 200)
  })
}

test('a new token with a max_age of zero is valid only at the moment of its creation', async (t) => {
  const { shown, read } = await made({ max_age: 0 })
  t.true(shown.is_valid)
  setClock('2030-01-01T00:00:00.000002Z')
  t.false((await read()).is_valid)
})

test('months and years that were set in SQL are shown in days', async (t) => {
  const { account, shown, read } = await made({})
  await query(service().system.db, `update tokens set max_age = '1 year 2 mons 3 days 04:05:06.5' where id = :id`, {
    id: shown.id,
  })
  t.is(((await read()) as Shown & { max_age: string }).max_age, '428 04:05:06.500000')
  t.is((await account.api.get('/auth/tokens/')).status, 200)
})
