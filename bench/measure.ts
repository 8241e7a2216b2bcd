export type Task = (i: number) => Promise<unknown>

/** Times of single runs, one after the other, in milliseconds, ascending. */
export async function latencies(runs: number, task: Task): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < runs; i++) {
    const start = performance.now()
    await task(i)
    times.push(performance.now() - start)
  }
  return times.sort((a, b) => a - b)
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
