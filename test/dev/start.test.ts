import test from 'ava'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { processes } from './processes.ts'
import { newFolder } from '../support/servers/folders.ts'
import { startOurs } from '../support/servers/programs.ts'
import { apiUrl } from '../support/servers/service.ts'

const privately = (folder: string) => ({
  PATH: process.env['PATH'],
  PORT: '0',
  DNS_PORT: '0',
  ZONEPLANE_DATA: folder,
})

test('with private servers, the key that encrypts secrets is made once, and only its owner can read it', async (t) => {
  const folder = newFolder()
  const file = join(folder, 'key-encryption-key')
  const start = async (...args: string[]) => {
    const { child, ended, output } = startOurs('main.js', args, privately(folder))
    await eventually(async () => apiUrl(output()) !== undefined, 60_000)
    const key = readFileSync(file, 'utf8')
    child.kill('SIGTERM')
    t.is(await ended, 0)
    t.false(output().includes(key.trim()))
    return key
  }
  const key = await start()
  t.is(Buffer.from(key, 'base64').length, 32)
  t.is(statSync(file).mode & 0o777, 0o600)
  t.is(await start(), key)
  t.not(await start('--fresh'), key)
})

test('if a private server ends by itself, the service stops, says which, and exits with code 1', async (t) => {
  const folder = newFolder()
  const { ended, output } = startOurs('main.js', [], privately(folder))
  await eventually(async () => apiUrl(output()) !== undefined, 60_000)
  process.kill(processes(folder)[1]!.pid, 'SIGKILL')
  t.is(await ended, 1)
  t.regex(output(), /^zoneplane: PowerDNS has ended by itself: stopping$/m)
  t.deepEqual(processes(folder), [undefined, undefined])
})

for (const [what, env, shown] of [
  ['of its own', {}, /^ {2}Token {2}\$\(cat '.*\/token'\)$/m],
  ['of the environment', { ZONEPLANE_TOKEN: 'a-secret-token' }, /^ {2}Token {2}\$ZONEPLANE_TOKEN$/m],
] as const) {
  test(`without a terminal, the log has no token ${what}, but says where it is`, async (t) => {
    const folder = newFolder()
    const { child, ended, output } = startOurs('main.js', [], { ...privately(folder), ...env })
    await eventually(async () => apiUrl(output()) !== undefined, 60_000)
    child.kill('SIGTERM')
    t.is(await ended, 0)
    t.regex(output(), shown)
    const secret = env.ZONEPLANE_TOKEN ?? readFileSync(join(folder, 'token'), 'utf8').trim()
    t.false(output().includes(secret))
  })
}

test('--help prints the usage; after a wrong option, too, and the exit code is 1', async (t) => {
  const help = startOurs('main.js', ['--help'], privately(newFolder()))
  t.is(await help.ended, 0)
  t.regex(help.output(), /^Usage: npm start/)
  const wrong = startOurs('main.js', ['--bogus'], privately(newFolder()))
  t.is(await wrong.ended, 1)
  t.regex(wrong.output(), /^zoneplane: Unknown option '--bogus'.*\nUsage: npm start/)
  t.notRegex(wrong.output(), /^\s+at /m)
})
