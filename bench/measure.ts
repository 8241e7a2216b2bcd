import { readFileSync } from 'node:fs'

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

/** KiB of a process' memory, now or at most. */
export function resident(pid: number, what: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`^${what}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])
}

/** The head of the table that `compare` writes. */
export function headings(): void {
  console.log(row('what', 'Zoneplane', 'raw PowerDNS', 'ratio'))
}

/** Writes what something costs here and in PowerDNS, and how many times as much that is. */
export function compare(what: string, unit: string, ours: number, theirs: number): void {
  console.log(row(what, `${ours.toFixed(2)} ${unit}`, `${theirs.toFixed(2)} ${unit}`, (ours / theirs).toFixed(2)))
}

/** Writes a figure that PowerDNS has none beside. */
export function state(what: string, figure: string): void {
  console.log(row(what, figure))
}

function row(what: string, ...figures: string[]): string {
  return [what.padEnd(44), ...figures.map((figure) => figure.padStart(14))].join('')
}
