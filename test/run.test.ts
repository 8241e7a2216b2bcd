import test from 'ava'
import fc from 'fast-check'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder } from './support/servers/folders.ts'
import { Random, SEED } from './support/random.ts'

/** The test command, in a temporary folder of its own, on one small file of tests. */
function run(folder: string, ...options: string[]): ChildProcess {
  chmodSync(folder, 0o711)
  return spawn(process.execPath, [join(import.meta.dirname, 'run.js'), 'build/test/dev/lock.test.js', ...options], {
    env: { ...process.env, TEST_SEED: '7', TMPDIR: folder, NODE_ENV: '' },
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

test.serial('a run that fails says with which seed to repeat it', async (t) => {
  const child = run(newFolder(), '--match=no such test')
  let output = ''
  child.stdout!.on('data', (chunk: Buffer) => (output += chunk.toString()))
  t.deepEqual(await once(child, 'close'), [1, null])
  t.regex(output, /test: failed; TEST_SEED=7 makes the same random choices again\n$/)
})

test('properties and other random choices start from the seed', (t) => {
  t.is(fc.readConfigureGlobal().seed, SEED)
  const [one, other] = [new Random(), new Random()].map((random) => [random.below(1e9), random.below(1e9)])
  t.deepEqual(one, other)
  t.not(one![0], one![1])
})
