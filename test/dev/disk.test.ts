import test from 'ava'
import { once } from 'node:events'
import { EventEmitter } from 'node:events'
import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { watchDisk } from '../../dev/disk.ts'
import { newFolder } from '../support/servers/folders.ts'

test('a disk that is getting full is warned of once, with its free octets', async (t) => {
  const folder = newFolder()
  const warnings = new EventEmitter()
  const { blocks, bsize } = await statfs(folder)
  const warned = once(warnings, 'warning')
  let count = 0
  const stop = watchDisk(
    folder,
    (free) => {
      count++
      warnings.emit('warning', free)
    },
    Infinity,
    1,
  )
  const [free] = (await warned) as [number]
  t.true(free > 0 && free <= blocks * bsize)
  await sleep(50)
  stop()
  t.is(count, 1)
})

test('a disk with room is not warned of', async (t) => {
  const stop = watchDisk(newFolder(), () => t.fail(), 0, 1)
  await sleep(50)
  stop()
  t.pass()
})
