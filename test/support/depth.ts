/**
 * How much of something a test tries: `full` in the deep suite (`npm run test:deep`), and `short` in every other run, which
 * still can find whatever the full number can.
 */
export function depth(short: number, full: number): number {
  return process.env['TEST_DEPTH'] === 'full' ? full : short
}
