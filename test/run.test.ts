import test from 'ava'
import fc from 'fast-check'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../src/installation/project.ts'
import { filesOf } from './runner/files.ts'
import { Random, SEED } from './support/random.ts'
import { newFolder } from './support/servers/folders.ts'

/** Starts the test command with its own temporary folder, on some test files. */
function run(folder: string, files: string, environment: Record<string, string> = {}): ChildProcess {
  chmodSync(folder, 0o711)
  return spawn(process.execPath, [join(import.meta.dirname, 'run.js'), files], {
    env: { ...process.env, TEST_SEED: '7', TEST_REQUIRE_ALL: '', TMPDIR: folder, NODE_ENV: '', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function outputUntil(child: ChildProcess, text: string): Promise<string> {
  let output = ''
  while (!output.includes(text)) output += String((await once(child.stdout!, 'data'))[0])
  return output
}

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test.serial(`the test command leaves no file behind when interrupted by ${signal}`, async (t) => {
    const folder = newFolder()
    const child = run(folder, 'private-servers/lock')
    await outputUntil(child, 'Postgres: starting')
    child.kill(signal)
    child.stdout!.resume()
    t.deepEqual(await once(child, 'close'), [code, null])
    t.deepEqual(readdirSync(folder), [])
  })
}

test.serial('a run exits with 0, removes its files, and those of an earlier run that was killed', async (t) => {
  const folder = newFolder()
  const killed = run(folder, 'private-servers/lock')
  await outputUntil(killed, 'Postgres: starting')
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  t.is(readdirSync(folder).length, 1)
  const child = run(folder, 'private-servers/lock')
  const [ended, output] = await Promise.all([once(child, 'close'), outputUntil(child, ' failed')])
  t.deepEqual(ended, [0, null])
  t.regex(output, /\n\d+ passed, 0 failed\n$/)
  t.deepEqual(readdirSync(folder), [])
})

test.serial('the end of a run tells what failed, with which seed, and how to run it again', async (t) => {
  const folder = newFolder()
  const child = run(folder, 'runner/failing', { TEST_PATIENCE: '15' })
  const [ended, output] = await Promise.all([once(child, 'close'), outputUntil(child, ' failed\n')])
  t.deepEqual(ended, [1, null])
  const end = output.trimEnd().split('\n').slice(-60).join('\n')
  const again = (file: string) => `again: TEST_SEED=7 npm test -- build/test/runner/failing/${file}.test.js`
  const at = (file: string) => `at .*/test/runner/failing/${file}.test.ts:\\d+`
  for (const pattern of [
    `an assertion that fails\n  Difference .*\n(  .*\n)+  ${at('failures')}.*\n  ${again('failures')}`,
    `a property that fails\n(  .*\n)*.*seed: 7,(.*\n)*  ${again('failures')}`,
    `hang.test.js exited due to SIGKILL\n  the last test that ended: .*the last one that ends\n  ${again('hang')}`,
    "servers' logs: .*failures",
    '\n2 passed, 3 failed$',
  ]) {
    t.regex(end, new RegExp(pattern))
  }
  const [logs] = readdirSync(folder)
  t.deepEqual(readdirSync(join(folder, logs!, 'runner-failing-failures')).sort(), ['1-powerdns.log', '2-service.log'])
})

test('each file that tries more in the deep suite is in one of its parts', (t) => {
  const isDeep = (file: string) =>
    file.includes('/deep/') || readFileSync(join(projectFolder(), file), 'utf8').match(/\/depth\.js['"]/) !== null
  t.deepEqual(
    filesOf('deep', []),
    filesOf('deep', ['test/']).filter((file) => isDeep(file) || file.includes('/served/')),
  )
})

test('property tests and other random choices start from the seed', (t) => {
  t.is(fc.readConfigureGlobal().seed, SEED)
  const [one, other] = [new Random(), new Random()].map((random) => [random.below(1e9), random.below(1e9)])
  t.deepEqual(one, other)
  t.not(one![0], one![1])
})
