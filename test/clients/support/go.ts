import type { ExecutionContext } from 'ava'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder } from '../../support/servers/folders.ts'
import { run, succeeded } from './programs.ts'

/** The time limit of each step: the module proxy may be slow, and there may be no cache of what was compiled. */
export const BUILD_SECONDS = 900

/** Why modules cannot be built; undefined if they can. Since 1.21, Go gets the version that a module wants. */
export function lackOfGo(): string | undefined {
  const [, minor = '0'] = / go1\.(\d+)/.exec(String(spawnSync('go', ['version']).stdout)) ?? []
  return Number(minor) >= 21 ? undefined : 'Go 1.21 or newer is missing'
}

/** A module that tests build: its folder, and Go's command in it, with the caches of this user. */
export interface GoModule {
  folder: string
  /** Runs Go's command, and returns its output. */
  go: (...args: string[]) => Promise<string>
}

/**
 * Makes a module.
 * @param sources the folder of our Go files that belong into it
 * @param modules that it requires, with their versions
 */
export async function newModule(t: ExecutionContext, sources?: string, modules: string[] = []): Promise<GoModule> {
  t.timeout(1000 * (BUILD_SECONDS + 120))
  const folder = join(newFolder(), 'source')
  mkdirSync(folder)
  const env = { HOME: process.env['HOME'] ?? folder, CGO_ENABLED: '0' }
  const go = async (...args: string[]) => succeeded(t, await run('go', args, { env, folder, seconds: BUILD_SECONDS }))
  await go('mod', 'init', 'client.test')
  for (const module of modules) await go('mod', 'edit', '-require', module)
  if (sources !== undefined) copyFiles(sources, folder)
  return { folder, go }
}

/** Copies the Go files of a folder, but not their tests. */
export function copyFiles(from: string, to: string): void {
  for (const file of readdirSync(from).filter((name) => /(?<!_test)\.go$/.test(name)))
    copyFileSync(join(from, file), join(to, file))
}

/** Builds the program of a module, or the one of a `package` that it requires. @returns its file */
export async function build({ folder, go }: GoModule, options: string[] = [], of = '.'): Promise<string> {
  const program = join(folder, 'program')
  await go('build', '-mod=mod', ...options, '-o', program, of)
  return program
}
