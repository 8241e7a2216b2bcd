import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { projectFolder } from '../../src/installation/project.ts'

/** The folder of the chart for Kubernetes. */
export const CHART = join(projectFolder(), 'deploy', 'helm', 'zoneplane')

const FOLDER = join(projectFolder(), 'test', 'chart', 'values')

/** The sets of values that the chart is tried with: files, as an operator writes them. */
export const VALUES = readdirSync(FOLDER).map((name) => join(FOLDER, name))

/** Reads a file of YAML. */
export function readYaml(file: string): unknown {
  return parse(readFileSync(file, 'utf8'))
}
