import type { Budget, Release } from '../../../src/flow/budget.ts'

/** Whether a budget has no room for a caller. */
export function isFull(budget: Budget, caller = 'nobody'): boolean {
  const release = budget.tryTake(caller)
  release?.()
  return release === undefined
}

/** Takes all the room that is left in a budget for a caller, for ever: nobody can take it away. */
export function fill(budget: Budget, caller: string): Release {
  const releases: Release[] = []
  for (let count = 2 ** 30; count >= 1;) {
    const release = budget.tryTake(caller, { count })
    if (release === undefined) count /= 2
    else releases.push(release)
  }
  return () => {
    for (const release of releases) release()
  }
}
