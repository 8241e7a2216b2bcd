import test from 'ava'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { takeLock, waitForLock } from '../../dev/lock.ts'
import { identify, remember } from '../../dev/running.ts'
import { newFolder } from '../support/servers/folders.ts'

test('a lock has one holder until it is released', (t) => {
  const folder = newFolder()
  const file = join(folder, 'lock')
  const lock = takeLock(file)
  t.deepEqual(takeLock(file), identify(process.pid)!)
  t.true('release' in lock)
  if ('release' in lock) lock.release()
  t.true('release' in takeLock(file))
  t.deepEqual(readdirSync(folder), ['lock'])
})

test('the lock of a process that has ended can be taken', (t) => {
  const folder = newFolder()
  const file = join(folder, 'lock')
  remember(file, { pid: process.pid, started: 'another time' })
  t.true('release' in takeLock(file))
  t.deepEqual(readdirSync(folder), ['lock'])
})

test('a waiting process gets the lock when it is released', async (t) => {
  const file = join(newFolder(), 'lock')
  const first = takeLock(file)
  const second = waitForLock(file, ({ pid }) => {
    t.is(pid, process.pid)
    if ('release' in first) first.release()
  })
  t.true('release' in (await second))
})
