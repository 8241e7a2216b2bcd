import type { ExecutionContext } from 'ava'
import { join } from 'node:path'
import { projectFolder } from '../../../src/installation/project.ts'
import { newDomain, rrset, succeeded } from '../../support/clients/api.ts'
import { loginOf } from '../../support/clients/members.ts'
import { eventually, eventuallyIs } from '../../support/eventually.ts'
import { useService } from '../../support/harness.ts'
import { needs } from '../../support/needs.ts'
import { test } from '../../support/serial.ts'
import { build, lackOfGo, newModule } from '../support/go.ts'
import { start } from '../support/programs.ts'
import { installPython } from '../support/python.ts'

// Receivers of webhooks with the libraries of Standard Webhooks for Go and Python (contract §22.2).

const service = useService({ WEBHOOK_NETWORKS: '127.0.0.1' })
const SOURCES = join(projectFolder(), 'test', 'clients', 'webhooks')

/** Asserts that a program, which says its address and then what it has verified, verifies what it shall, and nothing else. */
async function verifies(
  t: ExecutionContext,
  program: string,
  args: string[],
  env: Record<string, string>,
): Promise<void> {
  const { api, id } = await service().account()
  const { api: login } = await loginOf(service(), id)
  const events = ['rrsets']
  const made = succeeded(await login.post('/webhooks/', { url: 'http://127.0.0.1:1/', events }), 201)
  const { id: webhook, secret: before } = made.json as { id: string; secret: string }
  let secret = before
  const path = `/webhooks/${webhook}/`
  const startReceiver = async () => {
    const { child, output } = start(program, args, { env: { ...env, SECRET: secret } })
    t.teardown(() => child.kill())
    const url = await eventually(() => /^(http:\/\/\S+)\n/.exec(output())?.[1])
    succeeded(await login.patch(path, { url }), 200)
    return { url: url!, lines: () => output().split('\n').slice(1, -1) }
  }
  const domain = await newDomain(api)
  const write = async (subname: string) => {
    const headers = { 'zoneplane-message': `UTF-8''f%C3%BCr%20${subname}%20%E2%98%83` }
    succeeded(await api.post(`/domains/${domain}/rrsets/`, rrset({ subname }), { headers }), 201)
  }
  const first = await startReceiver()
  await write('one')
  const [line] = await eventually(first.lines, ({ length }) => length === 1)
  const [delivery, body] = [line!.slice(0, 36), line!.slice(37)]
  t.is((JSON.parse(body) as { data: { message: string } }).data.message, 'für one ☃')
  t.is((await fetch(first.url, { method: 'POST', body, headers: { 'webhook-id': delivery } })).status, 400)
  // For a day, both secrets sign: neither receiver has to be changed at the same moment.
  secret = (succeeded(await login.post(`${path}secret/`, {}), 201).json as { secret: string }).secret
  await write('two')
  await eventually(first.lines, ({ length }) => length === 2)
  const second = await startReceiver()
  await write('three')
  await eventually(second.lines, ({ length }) => length === 1)
  const again = `${path}deliveries/${delivery}/redeliver/`
  succeeded(await login.post(again, {}), 202)
  t.is((await eventually(second.lines, ({ length }) => length === 2))[1]!.slice(0, 36), delivery)
  await eventuallyIs(
    async () =>
      (succeeded(await login.get(`${path}deliveries/`), 200).json as { status: string }[]).map(({ status }) => status),
    ['delivered', 'delivered', 'delivered'],
  )
  // Another webhook's secret verifies nothing.
  const other = succeeded(await login.post('/webhooks/', { url: second.url, events }), 201).json as { id: string }
  succeeded(await login.post(`/webhooks/${other.id}/test/`, {}), 202)
  const refused = await eventually(
    async () =>
      (succeeded(await login.get(`/webhooks/${other.id}/deliveries/`), 200).json as { answer: number | null }[])[0]!,
    ({ answer }) => answer !== null,
  )
  t.is(refused.answer, 400)
}

needs(lackOfGo(), test)('the library for Go verifies messages, also after a rotation', async (t) => {
  const modules = ['github.com/standard-webhooks/standard-webhooks/libraries@v0.0.1']
  await verifies(t, await build(await newModule(t, SOURCES, modules)), [], {})
})

test('the library for Python verifies messages, also after a rotation', async (t) => {
  const PATH = await installPython(t, ['standardwebhooks'])
  await verifies(t, join(PATH.split(':')[0]!, 'python'), [join(SOURCES, 'receiver.py')], { PATH })
})
