import { query } from '../../../src/store/database.ts'
import { newDomain } from '../../support/clients/api.ts'
import { exchange, plainRequest } from '../../support/clients/raw.ts'
import { addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// A secret appears only in the answer that creates it.

const service = useService({ LOG_LEVEL: 'debug' })

const CANARY = 'CanaryCanaryCanaryCanary1234'

let domain: string

test.before('an account whose token is the canary', async () => {
  const { id, api } = await service().account()
  domain = await newDomain(api)
  await addToken(service(), id, { secret: CANARY, permManageTokens: true })
})

const base64 = (text: string) => Buffer.from(text).toString('base64')

const JSON_BODY = 'Content-Type: application/json'
const VALID = `Authorization: Token ${CANARY}`

/** Requests that contain the secret; `DOMAIN` stands for a domain of the account. */
const REQUESTS: [line: string, headers: string[], body?: string][] = [
  ['GET /api/v1/domains/', [VALID]],
  ['GET /api/v1/auth/tokens/', [VALID]],
  ['GET /api/v1/', [VALID]],
  ['PUT /api/v1/domains/', [VALID]],
  ['GET /api/v1/absent/', [VALID]],
  ['POST /api/v1/domains/', [VALID, JSON_BODY], '{}'],
  ['POST /api/v1/auth/tokens/', [VALID, JSON_BODY], '{'],
  ['GET /api/v1/domains/', [`Authorization: Token ${CANARY} x`]],
  ['GET /api/v1/domains/', [`Authorization: Token x${CANARY}`]],
  ['GET /api/v1/domains/', [`Authorization: Token ${CANARY}\xff`]],
  ['GET /api/v1/domains/', [`Authorization: Bearer ${CANARY}`]],
  ['GET /api/v1/domains/', [`Authorization: ${CANARY}`]],
  ['GET /api/v1/domains/', [`Authorization: Basic ${base64(`user:${CANARY}`)}`]],
  ['GET /api/v1/domains/', [`Cookie: token=${CANARY}`]],
  [
    'GET /api/v1/domains/',
    [VALID, `X-Forwarded-For: ${CANARY}`, `Referer: http://x/?${CANARY}`, `User-Agent: ${CANARY}`],
  ],
  [`GET /api/v1/domains/?token=${CANARY}&cursor=`, [VALID]],
  [`GET /api/v1/domains/?cursor=${CANARY}`, [VALID]],
  [`GET /api/v1/domains/?owns_qname=${CANARY}`, [VALID]],
  [`GET /api/v1/domains/DOMAIN/rrsets/?password=${CANARY}&cursor=`, [VALID]],
  [`GET /api/v1/domains/${CANARY}/`, [VALID]],
  [`GET /api/v1/domains/DOMAIN/rrsets/${CANARY}/A/`, [VALID]],
  [`GET /api/v1/auth/tokens/${CANARY}/`, [VALID]],
  [`GET /${CANARY}`, []],
  [`GET /update?username=DOMAIN&password=${CANARY}&myip=192.0.2.1`, []],
  [`GET /nic/update?hostname=DOMAIN&myip=192.0.2.2`, [`Authorization: Basic ${base64(`DOMAIN:${CANARY}`)}`]],
  ['POST /api/v1/auth/tokens/', [VALID, JSON_BODY], `{"token":"${CANARY}","secret":"${CANARY}"}`],
  ['POST /api/v1/auth/tokens/', [VALID, JSON_BODY], `{"max_age":"${CANARY}","allowed_subnets":["${CANARY}"]}`],
  ['POST /api/v1/auth/login/', [JSON_BODY], `{"email":"nobody@example.test","password":"${CANARY}"}`],
  ['POST /api/v1/auth/login/', [JSON_BODY], `{"email":"${CANARY}","password":"${CANARY}"}`],
  ['POST /api/v1/domains/DOMAIN/rrsets/', [VALID, JSON_BODY], `{"token":"${CANARY}","type":"A"}`],
  ['POST /api/v1/auth/tokens/', [VALID, `Content-Type: ${CANARY}`], 'x'.repeat(0)],
]

for (const [line, headers, body] of REQUESTS) {
  test(`the answer does not contain the secret: ${line.replaceAll(CANARY, '…')} ${JSON.stringify(headers).replaceAll(CANARY, '…').slice(0, 60)} ${(body ?? '').replaceAll(CANARY, '…')}`, async (t) => {
    const filled = (text: string) => text.replaceAll('DOMAIN', domain)
    const answer = await exchange(service().url, plainRequest(filled(line), headers.map(filled), filled(body ?? '')))
    t.true(answer.status >= 200 && answer.status < 500, String(answer.status))
    t.false(`${answer.head}${answer.body}`.includes(CANARY))
  })
}

test('neither the log nor any table contains the secret', async (t) => {
  t.true(service().logged().includes('"request"'))
  for (const form of [CANARY, base64(CANARY), encodeURIComponent(CANARY)]) t.false(service().logged().includes(form))
  const tables = await query<{ name: string }>(
    service().system.db,
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  )
  t.true(tables.length > 5)
  for (const { name } of tables) {
    const rows = await query<{ row: string }>(service().system.db, `select cast(t as text) as row from "${name}" t`)
    for (const { row } of rows) {
      t.false(row.includes(CANARY), name)
      t.false(row.includes(Buffer.from(CANARY).toString('hex')), name)
    }
  }
})
