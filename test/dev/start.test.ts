import test from 'ava'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { newFolder } from '../support/servers/folders.ts'
import { startOurs } from '../support/servers/programs.ts'
import { apiUrl } from '../support/servers/service.ts'

test('with private servers, the key that encrypts secrets is made once, and only its owner can read it', async (t) => {
  const folder = newFolder()
  const file = join(folder, 'key-encryption-key')
  const start = async (...args: string[]) => {
    const env = { PATH: process.env['PATH'], PORT: '0', DNS_PORT: '0', ZONEPLANE_DATA: folder }
    const { child, ended, output } = startOurs('main.js', args, env)
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
