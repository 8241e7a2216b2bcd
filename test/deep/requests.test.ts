import test from 'ava'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { beginAttempt } from '../../src/service/sign-on/browser.ts'
import { newDomain, newRRset } from '../support/clients/api.ts'
import { addMember, loginOf } from '../support/clients/members.ts'
import { person, resetLink } from '../support/clients/people.ts'
import { exchange, hold, type RawAnswer } from '../support/clients/raw.ts'
import { depth } from '../support/depth.ts'
import { useService } from '../support/harness.ts'
import { Random } from '../support/random.ts'
import { type LocalService, startService } from '../support/servers/service.ts'
import { SIGN_ON } from '../support/sign-on/settings.ts'
import { MISTAKEN, mutated, templates, unchanged, type World } from './requests.ts'

// Requests that were valid before a few octets of them were changed: never 5xx, but for 503 with Retry-After.

const RUNS = Number(process.env['FUZZ_RUNS'] ?? depth(2_000, 100_000))
const ROUND = 1_000
const CLIENTS = 32

/** Milliseconds to wait for an answer to a request that may be incomplete. */
const PATIENCE = 1_000

/** Makes what the requests refer to. The requests go to another service, which asks for captchas. */
const RECEIVERS = { WEBHOOK_NETWORKS: '127.0.0.1' }
const service = useService({ LOG_LEVEL: 'error', ...SIGN_ON, ...RECEIVERS })
const SETTINGS = {
  ...SIGN_ON,
  ...RECEIVERS,
  CAPTCHA: 'on',
  REGISTRATION: 'open',
  LOG_LEVEL: 'error',
  UPDATE_HOSTS: 'update.test',
  CHECK_IP_HOSTS: 'checkip.test',
}
const random = new Random()

/** What the requests of a round refer to, as they delete their own accounts, tokens and domains. */
async function newWorld(name: string): Promise<World> {
  const account = await service().account()
  const someone = await person(service())
  const domain = await newDomain(account.api, `${name}.test`)
  await newRRset(account.api, domain)
  const { id } = (await account.api.post('/auth/tokens/', { name: 'other' })).json as { id: string }
  const { path } = await resetLink(service(), someone)
  const { secret: login, api } = await loginOf(service(), account.id)
  const settings = { url: 'https://127.0.0.1:9/', events: ['delegation'] }
  const { id: webhook } = (await api.post('/webhooks/', settings)).json as { id: string }
  const { memberId: member } = await addMember(service(), account.id, 'viewer')
  const { cookie, binding } = beginAttempt(service().system)
  const signIn = { cookie, state: binding.state }
  return {
    ...account,
    login,
    member,
    webhook,
    signIn,
    domain,
    other: id,
    email: someone.email,
    password: someone.password,
    link: path,
  }
}

function heapInUse(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  service().proxy.calls.length = 0
  collect()
  return process.memoryUsage().heapUsed / 1024 / 1024
}

/** The answer to octets that may not be a whole request: the connection is ended after an answer, or without one. */
async function answerTo(url: string, octets: string): Promise<RawAnswer> {
  const { socket, answer } = await hold(url, octets)
  const end = () => socket.end()
  const timer = setTimeout(end, PATIENCE)
  socket.once('data', () => setTimeout(end, 20))
  return answer.finally(() => {
    clearTimeout(timer)
  })
}

let attacked: LocalService
const statuses = new Map<number, number>()
let heap: number

test.serial.before('another service starts', async () => {
  const { backends, system } = service()
  attacked = await startService(backends, { ...SETTINGS, ZONEPLANE_DATA: system.config.dataFolder })
})

test.after.always('it stops', () => attacked.stop())

/** Counts an answer. Returns what must not be. */
function judge(octets: string, { status, headers }: RawAnswer): string[] {
  statuses.set(status, (statuses.get(status) ?? 0) + 1)
  const isDocumented = status < 500 || (status === 503 && Number(headers['retry-after']) > 0)
  return isDocumented ? [] : [`${status} ${JSON.stringify(octets)}`]
}

test.serial('unchanged, they get answers of every status', async (t) => {
  for (const template of [...templates(await newWorld('unchanged')), ...MISTAKEN]) {
    const octets = unchanged(template)
    t.deepEqual(judge(octets, await exchange(attacked.url, octets)), [])
  }
  const expected = [200, 201, 202, 204, 400, 401, 403, 404, 405, 412, 415]
  const missing = expected.filter((status) => !statuses.has(status))
  t.deepEqual(missing, [])
})

for (let first = 0; first < RUNS; first += ROUND) {
  test.serial(`no request is answered 5xx: requests ${first + 1} to ${first + ROUND}`, async (t) => {
    const valid = templates(await newWorld(`d${first}`))
    const requests = Array.from({ length: ROUND }, () => mutated(random, valid))
    const failures: string[] = []
    const send = async () => {
      for (let octets = requests.pop(); octets !== undefined; octets = requests.pop()) {
        failures.push(...judge(octets, await answerTo(attacked.url, octets)))
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, send))
    t.deepEqual(failures, [])
    // When everything is warm.
    if (first <= RUNS / 5) heap = heapInUse()
  })
}

test.serial('no error is logged, and memory does not grow', (t) => {
  t.log(Object.fromEntries(statuses))
  t.is(attacked.logged(), '')
  const grown = heapInUse() - heap
  t.true(grown < 20, `${grown} MiB`)
})
