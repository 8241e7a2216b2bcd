import test from 'ava'
import fc from 'fast-check'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { projectFolder } from '../../src/installation/project.ts'
import { COST, type Cost, folderOf, LOGS, PROCESS, processorTime } from '../runner/progress.ts'
import { SEED } from './random.ts'
import { keepLogs } from './servers/logs.ts'

// Runs first in every process of AVA.

// fast-check uses the seed of the run, too, and prints it if a property fails.
fc.configureGlobal({ seed: SEED })

const file = relative(projectFolder(), fileURLToPath(test.meta.file))
const folder = join(process.env['TEST_FOLDER']!, folderOf(file))
mkdirSync(folder, { mode: 0o711 })
// What the tests of this file make is below it.
process.env['TEST_FOLDER'] = folder
writeFileSync(join(folder, PROCESS), String(process.pid))

function tell(): void {
  const { own = 0, children = 0 } = processorTime() ?? {}
  const cost: Cost = { file, wall: process.uptime(), own, children }
  writeFileSync(join(folder, COST), JSON.stringify(cost))
  rmSync(join(folder, PROCESS), { force: true })
  keepLogs(join(folder, LOGS))
}

process.on('exit', tell)

// The test command sends this if no test of the file ends for too long.
process.on('SIGTERM', () => {
  tell()
  process.kill(process.pid, 'SIGKILL')
})

// AVA's TAP tells the first line of a stack, which is one of its own functions: tell that of the test.
const send = process.send!.bind(process) as (...args: unknown[]) => boolean
process.send = (...args: unknown[]) => {
  const [{ ava: { err } = {} }] = args as [{ ava?: { err?: { stack?: string } } }]
  if (err?.stack !== undefined) err.stack = err.stack.replaceAll(/^ *at .*\/node_modules\/ava\/.*\n/gm, '')
  return send(...args)
}

// When AVA ends, this process ends, and with it the servers that it started.
process.on('disconnect', () => {
  process.exit(1)
})
