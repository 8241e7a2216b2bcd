import test, { type ExecutionContext } from 'ava'
import { statfs } from 'node:fs/promises'
import { mock } from 'node:test'
import { watchDisk } from '../../src/private-servers/disk.ts'
import { eventually } from '../support/eventually.ts'
import { newFolder } from '../support/servers/folders.ts'

const INTERVAL = 60_000

const isLooking = () => process.getActiveResourcesInfo().includes('FSReqPromise')

/** The warnings of a watcher that has looked four times. */
async function warningsOf(t: ExecutionContext, folder: string, low: number): Promise<number[]> {
  const warnings: number[] = []
  mock.timers.enable({ apis: ['setInterval'] })
  watchDisk(folder, (free) => warnings.push(free), low, INTERVAL)
  for (let looks = 1; looks <= 4; looks++) {
    t.true(isLooking())
    await eventually(() => !isLooking())
    if (looks < 4) mock.timers.tick(INTERVAL)
  }
  mock.timers.reset()
  return warnings
}

test.serial('a disk that is getting full is warned of once, with its free octets', async (t) => {
  const folder = newFolder()
  const { blocks, bsize } = await statfs(folder)
  const [free, ...more] = await warningsOf(t, folder, Infinity)
  t.true(free! > 0 && free! <= blocks * bsize)
  t.deepEqual(more, [])
})

test.serial('a disk with room is not warned of', async (t) => {
  t.deepEqual(await warningsOf(t, newFolder(), 0), [])
})
