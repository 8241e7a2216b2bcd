#!/usr/bin/env node
import { run } from './cli/run.ts'
import { projectVersion } from './installation/project.ts'

// The program: `start` runs the service, each other command calls functions of service/. A module is imported only for
// the command that needs it, because imports take most of a command's time.

// `zoneplane --ci` is `zoneplane start --ci`.
const args = process.argv[2] === '--ci' ? ['start', ...process.argv.slice(2)] : process.argv.slice(2)

// The reader of the output is gone, as after `zoneplane account list | head`. `start` stops by itself.
if (args[0] !== 'start') process.stdout.on('error', () => process.exit(1))

process.exitCode = await run(args, {
  version: projectVersion(),
  start: async (options) => (await import('./process/start.ts')).start(options),
  withSystem: async (needs, work) => (await import('./process/for-commands.ts')).withSystem(needs, work),
})
