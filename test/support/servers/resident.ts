import { readFileSync } from 'node:fs'

/** The memory of a process in KiB, now or at its peak. */
export function resident(pid: number, what: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`^${what}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])
}
