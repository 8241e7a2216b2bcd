import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until `condition` holds; for work in the background, such as repair. */
export async function eventually(condition: () => Promise<boolean>, within = 20_000): Promise<void> {
  const end = Date.now() + within
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`not within ${within} ms`)
    await sleep(50)
  }
}
