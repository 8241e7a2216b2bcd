import test from 'ava'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type StartedZoneplaneContainer, ZoneplaneContainer } from '../../clients/testcontainers/zoneplane-container.ts'
import { dig, isServed } from './answers.ts'
import { CI_IMAGE, hasCiImage } from './compose.ts'
import { startService } from './podman.ts'
import { clear } from './services.ts'

const withImage = process.env['TEST_IMAGES'] === 'on' && hasCiImage() ? test.serial : test.serial.skip

let stopService: () => void

test.before(async () => {
  if (process.env['TEST_IMAGES'] !== 'on') return
  await clear()
  const socket = join(mkdtempSync(join(tmpdir(), 'service-')), 'podman.sock')
  stopService = await startService(socket)
  // Ryuk deletes the containers of killed tests; its image would come from a registry.
  Object.assign(process.env, { DOCKER_HOST: `unix://${socket}`, TESTCONTAINERS_RYUK_DISABLED: 'true' })
})

test.after.always(async () => {
  if (process.env['TEST_IMAGES'] !== 'on') return
  stopService()
  await clear()
})

function newContainer(): ZoneplaneContainer {
  return new ZoneplaneContainer(`localhost/${CI_IMAGE}`)
}

/** Creates something by the API, which must answer 201. */
async function post(container: StartedZoneplaneContainer, token: string, path: string, body: object): Promise<void> {
  const response = await fetch(new URL(path, container.getApiUrl()), {
    method: 'POST',
    headers: { authorization: `Token ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`)
}

function ask(container: StartedZoneplaneContainer, ...args: string[]): Promise<string> {
  return dig([`@${container.getDnsHost()}`, '-p', String(container.getDnsPort()), ...args])
}

const www = { subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.1'] }

withImage('with Testcontainers, tests write, ask DNS over UDP and TCP, and have accounts of their own', async (t) => {
  await using container = await newContainer().start()
  await post(container, container.getToken(), 'domains/example.test/rrsets/', www)
  for (const transport of ['+notcp', '+tcp']) {
    const served = await ask(container, transport, 'www.example.test', 'A')
    t.true(isServed(served, 'www.example.test', '192.0.2.1'), served)
  }

  const { token } = await container.createAccount()
  await post(container, token, 'domains/', { name: 'another.example' })
  await post(container, token, 'domains/another.example/rrsets/', www)
  t.true(isServed(await ask(container, 'www.another.example', 'A'), 'www.another.example', '192.0.2.1'))
})

withImage('with Testcontainers, a seed exists from the start, and its mistakes are told', async (t) => {
  const seed = (zonefile: string) => `accounts:
  - email: tester@example.test
    domains:
      - name: seeded.example
        zonefile: ${zonefile}
`
  await using container = await newContainer().withSeed(seed('www 60 A 192.0.2.1')).start()
  t.true(isServed(await ask(container, 'www.seeded.example', 'A'), 'www.seeded.example', '192.0.2.1'))
  await t.throwsAsync(newContainer().withSeed(seed('www 60 A 192.0.2')).start(), { message: /seed\.yaml, line 4/ })
})
