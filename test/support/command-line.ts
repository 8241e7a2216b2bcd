import { run } from '../../src/cli/run.ts'
import { withSystem } from '../../src/process/for-commands.ts'
import type { System } from '../../src/system.ts'

type Parts = Parameters<typeof run>[1]

/** Runs a command line of the operator in this process. Resolves to whether it succeeded, and all that it printed. */
export type Zoneplane = (...args: string[]) => Promise<[boolean, string]>

/** The commands that need a system. */
export function commandsOn(system: () => System): Zoneplane {
  return (...args) => runHere(args, async (_, work) => work(system()))
}

/** What commands answer: the JSON that they print, or the problem that they report. Each throws if it is the other. */
export function answersOf(zoneplane: Zoneplane) {
  return {
    json: async (...args: string[]): Promise<unknown> => {
      const [succeeded, printed] = await zoneplane(...args, '--json')
      if (!succeeded) throw new Error(printed)
      return JSON.parse(printed)
    },
    refusal: async (...args: string[]): Promise<string> => {
      const [succeeded, printed] = await zoneplane(...args)
      if (succeeded) throw new Error(printed)
      return printed.replace(/^zoneplane: (.*)\n$/, '$1')
    },
  }
}

/** Runs a command line on a system of its own, which the environment names, as the program does, but in this process. */
export async function runWith(env: NodeJS.ProcessEnv, ...args: string[]): Promise<[boolean, string]> {
  const before = process.env
  process.env = { ...env }
  try {
    return await runHere(args, withSystem)
  } finally {
    process.env = before
  }
}

async function runHere(args: string[], withSystem: Parts['withSystem']): Promise<[boolean, string]> {
  let printed = ''
  const write = (text: string) => {
    printed += text
  }
  const parts = {
    version: '1.2.3',
    start: () => Promise.reject(new Error('no service is started in this process')),
    withSystem,
  }
  const code = await run(args, parts, { writeOut: write, writeErr: write })
  return [code === 0, printed]
}
