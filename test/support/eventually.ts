import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits until `condition` holds; for work in the background, such as repair.
 * @param within milliseconds on a machine that has nothing else to do
 * @param pause milliseconds between two looks
 */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  within = 20_000,
  pause = 50,
): Promise<void> {
  const limit = within * Number(process.env['TEST_SLOWNESS'] ?? 1)
  const end = Date.now() + limit
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`not within ${limit} ms`)
    await sleep(pause)
  }
}
