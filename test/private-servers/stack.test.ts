import test from 'ava'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { StartError } from '../../src/errors.ts'
import { type Stack, startStack } from '../../src/private-servers/stack.ts'
import { newFolder } from '../support/servers/folders.ts'
import { isGone, processes, quietly } from './processes.ts'

const powerDns = { dnsPort: 0 }
const options = { postgres: true, powerDns, durable: false, progress: quietly }

async function zones({ powerDns }: Stack): Promise<unknown[]> {
  const response = await fetch(`${powerDns!.apiUrl}/api/v1/servers/localhost/zones`, {
    headers: { 'X-API-Key': powerDns!.apiKey },
  })
  return (await response.json()) as unknown[]
}

/** Where the tests that need no folder of their own work, one after the other. */
const folder = newFolder()

test.serial('Postgres and PowerDNS both start and both stop', async (t) => {
  const stack = await startStack(folder, options)
  const [postgres, pdns] = processes(folder)
  t.truthy(postgres)
  t.truthy(pdns)
  const client = new pg.Client({ connectionString: stack.postgres!.url })
  await client.connect()
  await client.end()
  t.deepEqual(await zones(stack), [])
  await stack.stop()
  t.deepEqual(processes(folder), [undefined, undefined])
  t.deepEqual(readdirSync(folder).sort(), ['lock', 'pdns', 'postgres'])
})

test.serial('the servers can enter a data folder that is made under a strict umask', async (t) => {
  const folder = join(newFolder(), 'data')
  const umask = process.umask(0o077)
  t.teardown(() => process.umask(umask))
  const stack = await startStack(folder, options)
  t.deepEqual(await zones(stack), [])
  await stack.stop()
})

test.serial('a server that the caller does not ask for is not started', async (t) => {
  const other = newFolder()
  const stack = await startStack(other, { ...options, postgres: false })
  t.is(stack.postgres, undefined)
  t.false(existsSync(join(other, 'postgres')))
  await stack.stop()
  const another = newFolder()
  // Quicker than a database of its own.
  execFileSync('cp', ['--archive', join(folder, 'postgres'), another])
  const postgres = await startStack(another, { ...options, powerDns: undefined })
  t.is(postgres.powerDns, undefined)
  t.deepEqual(readdirSync(another).sort(), ['lock', 'postgres'])
  await postgres.stop()
})

test.serial('a second stack on the same folder is refused, and the first one keeps running', async (t) => {
  const stack = await startStack(folder, options)
  await t.throwsAsync(startStack(folder, options), { instanceOf: StartError, message: /is in use by process \d+/ })
  t.deepEqual(await zones(stack), [])
  await stack.stop()
})

test.serial('if one server cannot start, the other one is stopped', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const taken = { ...powerDns, dnsPort: (server.address() as AddressInfo).port }
  await t.throwsAsync(startStack(folder, { ...options, powerDns: taken }), {
    instanceOf: StartError,
    message: /is taken/,
  })
  t.deepEqual(processes(folder), [undefined, undefined])
  server.close()
  await (await startStack(folder, { ...options, powerDns: taken })).stop()
})

test.serial('if a server ends by itself, the stack reports it', async (t) => {
  const stack = await startStack(folder, options)
  process.kill(processes(folder)[1]!.pid, 'SIGKILL')
  t.is(await stack.broken, 'PowerDNS has ended by itself')
  await stack.stop()
})

test.serial('`fresh` deletes what Zoneplane made, and nothing else', async (t) => {
  writeFileSync(join(folder, 'token'), 'kept')
  const first = await startStack(folder, options)
  await fetch(`${first.powerDns!.apiUrl}/api/v1/servers/localhost/zones`, {
    method: 'POST',
    headers: { 'X-API-Key': first.powerDns!.apiKey },
    body: JSON.stringify({ name: 'example.test.', kind: 'Master', nameservers: [] }),
  })
  t.is((await zones(first)).length, 1)
  await first.stop()
  const second = await startStack(folder, { ...options, fresh: true })
  t.deepEqual(await zones(second), [])
  await second.stop()
  t.is(readFileSync(join(folder, 'token'), 'utf8'), 'kept')

  const foreign = newFolder()
  mkdirSync(join(foreign, 'postgres'))
  writeFileSync(join(foreign, 'postgres', 'thesis.txt'), '')
  const refused = startStack(foreign, { ...options, fresh: true })
  await t.throwsAsync(refused, { instanceOf: StartError, message: /not made by Zoneplane/ })
  t.deepEqual(readdirSync(join(foreign, 'postgres')), ['thesis.txt'])
})

test.serial('a folder that cannot be created is an error', async (t) => {
  const file = join(newFolder(), 'file')
  writeFileSync(file, '')
  const refused = startStack(join(file, 'below'), options)
  await t.throwsAsync(refused, { instanceOf: StartError, message: /cannot be written .*ZONEPLANE_DATA/ })
})

test.serial('if the starting process is killed, its servers end, and the folder can be used again', async (t) => {
  const starter = spawn(process.execPath, [join(import.meta.dirname, 'starter.js'), folder])
  await once(starter.stdout, 'data')
  const [postgres, pdns] = processes(folder)
  starter.kill('SIGKILL')
  await once(starter, 'exit')
  // Only Linux ends them; elsewhere the next start does.
  if (process.platform === 'linux') await Promise.all([isGone(postgres!.pid), isGone(pdns!.pid)])
  const stack = await startStack(folder, options)
  t.deepEqual(await zones(stack), [])
  await stack.stop()
})
