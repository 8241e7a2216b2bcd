import test, { type ExecutionContext } from 'ava'

/** What declares a test, such as `test` and `test.serial`. */
export type Declare = (title: string, check: (t: ExecutionContext) => unknown) => void

/**
 * Declares tests that need something of the machine, such as a program. Where it is missing they are skipped, and their
 * titles say why; in CI, which must have everything, they fail.
 * @param missing why they cannot run; undefined if they can
 * @param declare how to declare those that run: `test`, or `test.serial`
 */
export function needs(missing: string | undefined, declare: Declare = test): Declare {
  if (missing === undefined) return declare
  if (process.env['TEST_REQUIRE_ALL'] === '1') {
    return (title) => {
      declare(title, (t) => {
        t.fail(missing)
      })
    }
  }
  return (title, check) => {
    test.skip(`${title} (skipped: ${missing})`, check)
  }
}
