import test from 'ava'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder } from './support/folders.ts'

/** The test command, in a temporary folder of its own, on one small file of tests. */
function run(folder: string): ChildProcess {
  chmodSync(folder, 0o711)
  return spawn(process.execPath, [join(import.meta.dirname, 'run.js'), 'build/test/dev/lock.test.js'], {
    env: { ...process.env, TMPDIR: folder, NODE_ENV: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function said(child: ChildProcess, text: string): Promise<void> {
  let output = ''
  while (!output.includes(text)) output += String((await once(child.stdout!, 'data'))[0])
}

test.serial('it leaves no file behind, and AVA’s exit code', async (t) => {
  const folder = newFolder()
  const child = run(folder)
  child.stdout!.resume()
  t.deepEqual(await once(child, 'close'), [0, null])
  t.deepEqual(readdirSync(folder), [])
})

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test.serial(`interrupted by ${signal}, too`, async (t) => {
    const folder = newFolder()
    const child = run(folder)
    await said(child, 'Postgres: starting')
    child.kill(signal)
    child.stdout!.resume()
    t.deepEqual(await once(child, 'close'), [code, null])
    t.deepEqual(readdirSync(folder), [])
  })
}

test.serial('what a killed run left, the next one removes', async (t) => {
  const folder = newFolder()
  const killed = run(folder)
  await said(killed, 'Postgres: starting')
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  t.is(readdirSync(folder).length, 1)
  const child = run(folder)
  child.stdout!.resume()
  t.deepEqual(await once(child, 'close'), [0, null])
  t.deepEqual(readdirSync(folder), [])
})
