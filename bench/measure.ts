export type Task = (i: number) => Promise<unknown>

/**
 * Times of single runs in milliseconds, ascending, of tasks that take turns run by run, so that whatever else the
 * machine does is shared fairly.
 */
export async function alternating(runs: number, ...tasks: Task[]): Promise<number[][]> {
  const times: number[][] = tasks.map(() => [])
  for (let i = 0; i < runs; i++) {
    for (const [which, task] of tasks.entries()) {
      const start = performance.now()
      await task(i)
      times[which]!.push(performance.now() - start)
    }
  }
  return times.map((list) => list.sort((a, b) => a - b))
}

/** Runs per second, with so many under way at once; each worker has its own number. */
export async function throughput(runs: number, workers: number, task: (worker: number, i: number) => Promise<unknown>) {
  let next = 0
  const start = performance.now()
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      while (next < runs) await task(worker, next++)
    }),
  )
  return (runs / (performance.now() - start)) * 1000
}

export function percentile(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}
