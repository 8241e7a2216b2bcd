import { run } from '../../src/cli/run.ts'
import type { System } from '../../src/system.ts'

/** Runs a command line of the operator in this process. Resolves to whether it succeeded, and all that it printed. */
export type Zoneplane = (...args: string[]) => Promise<[boolean, string]>

/** The commands that need a system. */
export function commandsOn(system: () => System): Zoneplane {
  return async (...args) => {
    let printed = ''
    const write = (text: string) => {
      printed += text
    }
    const parts = {
      version: '1.2.3',
      start: () => Promise.reject(new Error('no service is started in this process')),
      reset: () => Promise.reject(new Error('no service runs with private servers')),
      withSystem: async (_: unknown, work: (system: System) => Promise<void>) => work(system()),
    }
    const succeeded = await run(args, parts, { writeOut: write, writeErr: write })
    return [succeeded, printed]
  }
}
