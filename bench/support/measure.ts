export type Task = (i: number) => Promise<unknown>

/**
 * The times of single runs in milliseconds, ascending, for each task. The tasks alternate run by run, so that other
 * load on the machine affects all alike.
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

/** Runs per second, with as many in parallel as there are workers; `task` gets the worker's number. */
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

/** The medians of alternating tasks, in milliseconds. */
export async function medians(runs: number, ...tasks: Task[]): Promise<number[]> {
  return (await alternating(runs, ...tasks)).map((times) => percentile(times, 0.5))
}

export function median(figures: number[]): number {
  return percentile(
    figures.toSorted((a, b) => a - b),
    0.5,
  )
}

/** The cost of some work to Zoneplane and to PowerDNS alone: a time, or how often it is done in a second. */
export interface Comparison {
  what: string
  unit: string
  ours: number
  theirs: number
}

/** All that was compared so far. */
export const comparisons: Comparison[] = []

/** Prints the head of the table that `compare` and `state` fill. */
export function headings(): void {
  console.log(row('what', 'Zoneplane', 'raw PowerDNS', 'ratio'))
}

/** Prints the costs of Zoneplane and of PowerDNS, and their ratio. */
export function compare(what: string, unit: string, ours: number, theirs: number): void {
  comparisons.push({ what, unit, ours, theirs })
  console.log(row(what, `${ours.toFixed(2)} ${unit}`, `${theirs.toFixed(2)} ${unit}`, (ours / theirs).toFixed(2)))
}

/** Prints a figure that PowerDNS has no counterpart for. */
export function state(what: string, figure: string): void {
  console.log(row(what, figure))
}

function row(what: string, ...figures: string[]): string {
  return [what.padEnd(44), ...figures.map((figure) => figure.padStart(14))].join('')
}
