import test from 'ava'
import { readdirSync } from 'node:fs'
import { Client } from '../support/clients/client.ts'
import { eventually } from '../support/eventually.ts'
import { newFolder } from '../support/servers/folders.ts'
import { type Program, startOurs } from '../support/servers/programs.ts'
import { apiUrl } from '../support/servers/service.ts'

// `zoneplane --ci` and its control (contract §15.8).

const TMPDIR = newFolder()
let service: Program
let anonymous: Client

test.before('a service for tests', async () => {
  service = startOurs(['--ci'], { PATH: process.env['PATH'], TMPDIR, PORT: '0', DNS_PORT: '0' })
  anonymous = new Client(await eventually(() => apiUrl(service.output()) ?? ''))
})

test.serial('an account for a test has a token with all permissions and no limit of domains', async (t) => {
  const { status, json } = await anonymous.post('//root/ci/accounts/')
  t.is(status, 201)
  const { email, id, token } = json as { email: string; id: string; token: string }
  const client = new Client(anonymous.url, token)
  const account = (await client.get('/auth/account/')).json as { email: string; id: string; limit_domains: null }
  t.like(account, { email, id, limit_domains: null })
  t.is((await client.post('/domains/', { name: 'mine.example' })).status, 201)
  t.is((await client.delete('/domains/mine.example/')).status, 204)
})

test.serial('web pages cannot control the service', async (t) => {
  const headers = { Origin: 'https://page.example' }
  t.is((await anonymous.post('//root/ci/accounts/', undefined, { headers })).status, 403)
})

test.serial('`zoneplane --ci` keeps its data in a folder that is deleted at the end', async (t) => {
  t.is(readdirSync(TMPDIR).length, 1)
  service.child.kill('SIGTERM')
  t.is(await service.ended, 0)
  t.deepEqual(readdirSync(TMPDIR), [])
})

test.after.always('it stops', async () => {
  service.child.kill('SIGTERM')
  await service.ended
})
