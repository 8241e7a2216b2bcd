import test from 'ava'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Lock, takeLock, waitForLock } from '../../src/private-servers/lock.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { newFolder } from '../support/servers/folders.ts'
import { startProgram } from '../support/servers/programs.ts'

/** A program that takes the lock and keeps it. */
const HOLDER = `
  import { takeLock } from '${join(import.meta.dirname, '../../src/private-servers/lock.js')}'
  console.log('release' in takeLock(process.argv[1]) ? 'taken' : 'refused')
  setInterval(() => {}, 1000)`

function held(t: { true(is: boolean): void }, file: string): Lock {
  const lock = takeLock(file)
  t.true('release' in lock)
  return lock as Lock
}

test('a lock has one holder until it is released', (t) => {
  const folder = newFolder()
  const file = join(folder, 'lock')
  const lock = held(t, file)
  t.deepEqual(takeLock(file), { pid: process.pid })
  lock.release()
  held(t, file).release()
  t.deepEqual(readdirSync(folder), ['lock'])
})

test('the lock of a process that was killed can be taken', async (t) => {
  const file = join(newFolder(), 'lock')
  const { child, ended, output } = startProgram(process.execPath, ['--eval', HOLDER, file], {})
  await eventuallyIs(output, 'taken\n')
  t.deepEqual(takeLock(file), { pid: child.pid })
  child.kill('SIGKILL')
  await ended
  held(t, file).release()
})

// Who may not make namespaces cannot have this test.
const asRoot = process.getuid?.() === 0 && process.platform === 'linux' ? test : test.skip

asRoot('a process of another container, where process ids are others, does not get the lock', async (t) => {
  const file = join(newFolder(), 'lock')
  const args = ['--pid', '--fork', '--kill-child', '--mount-proc', process.execPath, '--eval', HOLDER, file]
  const first = startProgram('unshare', args, { PATH: process.env['PATH'] })
  await eventuallyIs(() => first.output(), 'taken\n')
  t.is(readFileSync(file, 'utf8'), '1')
  t.deepEqual(takeLock(file), { pid: 1 })
  const second = startProgram('unshare', args, { PATH: process.env['PATH'] })
  await eventuallyIs(() => second.output(), 'refused\n')
  for (const { child, ended } of [first, second]) {
    child.kill('SIGKILL')
    await ended
  }
})

test('a waiting process gets the lock when it is released', async (t) => {
  const file = join(newFolder(), 'lock')
  const first = held(t, file)
  const second = await waitForLock(file, ({ pid }) => {
    t.is(pid, process.pid)
    first.release()
  })
  second.release()
})
