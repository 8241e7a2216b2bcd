import { setTimeout as sleep } from 'node:timers/promises'
import { findPorts, HOST } from '../../src/private-servers/ports.ts'
import { memory, ready, start } from './ci-container.ts'
import { CI_IMAGE } from './compose.ts'
import { podman } from './podman.ts'
import { clear } from './services.ts'

// `npm run test:images -- --measure`: how soon the image for CI is ready, beside a container that does nothing, and its
// memory at rest.

const ROUNDS = 12

await clear()
const ports = await findPorts({ api: 0, dns: 0 }, [HOST])
// The first start reads files from the disk.
await start(ports)
await ready(ports)
await clear()
await measure('an empty container', async () => {
  await podman('run', '--name=ci', '--network=none', '--entrypoint=true', CI_IMAGE)
})
await measure('the image for CI, until it is ready', async () => {
  await start(ports)
  await ready(ports)
})
await start(ports)
await ready(ports)
await sleep(15_000)
console.log(`memory at rest: ${await memory()} MiB (PSS)`)
await clear()

async function measure(what: string, work: () => Promise<void>): Promise<void> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const begin = performance.now()
    await work()
    times.push(performance.now() - begin)
    await podman('rm', '--all', '--force', '--time=0')
  }
  times.sort((one, other) => one - other)
  const [best, median] = [times[0]!, times[ROUNDS / 2]!].map(Math.round)
  console.log(`${what}: ${best!} ms at best, ${median!} ms in the middle of ${ROUNDS}`)
}
