import test from 'ava'
import fc from 'fast-check'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder } from './support/servers/folders.ts'
import { Random, SEED } from './support/random.ts'

/** Starts the test command with its own temporary folder, on one small test file. */
function run(folder: string, ...options: string[]): ChildProcess {
  chmodSync(folder, 0o711)
  return spawn(process.execPath, [join(import.meta.dirname, 'run.js'), 'build/test/dev/lock.test.js', ...options], {
    env: { ...process.env, TEST_SEED: '7', TMPDIR: folder, NODE_ENV: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function waitForOutput(child: ChildProcess, text: string): Promise<void> {
  let output = ''
  while (!output.includes(text)) output += String((await once(child.stdout!, 'data'))[0])
}

test.serial('the test command exits with AVA’s code and leaves no file behind', async (t) => {
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
  test.serial(`the test command leaves no file behind when interrupted by ${signal}`, async (t) => {
    const folder = newFolder()
    const child = run(folder)
    await waitForOutput(child, 'Postgres: starting')
    child.kill(signal)
    child.stdout!.resume()
    t.deepEqual(await once(child, 'close'), [code, null])
    t.deepEqual(readdirSync(folder), [])
  })
}

test.serial('a run removes the files of an earlier run that was killed', async (t) => {
  const folder = newFolder()
  const killed = run(folder)
  await waitForOutput(killed, 'Postgres: starting')
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  t.is(readdirSync(folder).length, 1)
  const child = run(folder)
  child.stdout!.resume()
  t.deepEqual(await once(child, 'close'), [0, null])
  t.deepEqual(readdirSync(folder), [])
})

test.serial('a run that fails prints the seed that repeats it', async (t) => {
  const child = run(newFolder(), '--match=no such test')
  let output = ''
  child.stdout!.on('data', (chunk: Buffer) => (output += chunk.toString()))
  t.deepEqual(await once(child, 'close'), [1, null])
  t.regex(output, /test: failed; TEST_SEED=7 makes the same random choices again\n$/)
})

test('property tests and other random choices start from the seed', (t) => {
  t.is(fc.readConfigureGlobal().seed, SEED)
  const [one, other] = [new Random(), new Random()].map((random) => [random.below(1e9), random.below(1e9)])
  t.deepEqual(one, other)
  t.not(one![0], one![1])
})
