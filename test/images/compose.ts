import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../src/installation/project.ts'
import { interpolate, type Service } from '../support/compose.ts'

/** The image that is built for a service, or the one that it names. */
export function imageOf(name: string, { image }: Service): string {
  return image ?? `zoneplane-${name}`
}

/** What `podman build` needs to know to build the image of a service. */
export function buildOf({ build }: Service): string[] {
  if (build === undefined) return []
  const { context, target } = typeof build === 'string' ? { context: build, target: undefined } : build
  return [...(target === undefined ? [] : [`--target=${target}`]), join(projectFolder(), context)]
}

/** The image with everything, for one test run. */
export const CI_IMAGE = 'zoneplane/ci'

export function hasCiImage(): boolean {
  return /^FROM .* AS ci$/m.test(readFileSync(join(projectFolder(), 'Dockerfile'), 'utf8'))
}

type Options = (value: never, environment: Record<string, string>) => string[]

/** Each key of a service that docker-compose.yml uses, as options of `podman create`. */
const KEYS: Record<string, Options> = {
  image: () => [],
  build: () => [],
  depends_on: () => [],
  user: (user: string) => [`--user=${user}`],
  restart: (policy: string) => [`--restart=${policy}`],
  cap_drop: (names: string[]) => names.map((name) => `--cap-drop=${name}`),
  security_opt: (options: string[]) => options.map((option) => `--security-opt=${option.replace(/:true$/, '')}`),
  // Docker makes no folders in memory but those that are named, and gives them these options.
  read_only: (only: boolean) => [`--read-only=${only}`, '--read-only-tmpfs=false'],
  tmpfs: (paths: string[]) => paths.map((path) => `--tmpfs=${path}:rw,noexec,nosuid,nodev,notmpcopyup,mode=1777`),
  mem_limit: (limit: string) => [`--memory=${limit}`],
  init: (wanted: boolean) => [`--init=${wanted}`],
  stop_grace_period: (period: string) => [`--stop-timeout=${Number.parseInt(period)}`],
  environment: (values: Service['environment'], environment) =>
    Object.entries(values).map(([name, value]) => `--env=${name}=${interpolate(value, environment)}`),
  ports: (ports: string[], environment) => ports.map((port) => `--publish=${interpolate(port, environment)}`),
  volumes: (volumes: string[]) => volumes.map((volume) => `--volume=${volume.replace(/^\.\//, `${projectFolder()}/`)}`),
  // The tests run the check, because podman leaves that to systemd.
  healthcheck: ({ test: [kind, ...words] }: Service['healthcheck'], environment) => {
    const check = words.map((word) => interpolate(word, environment))
    return [`--health-cmd=${kind === 'CMD' ? JSON.stringify(check) : check.join(' ')}`, '--health-interval=disable']
  },
}

/**
 * What `podman create` needs to know to make the container that `docker compose` would make of a service.
 * @throws Error if the service has a key that the tests do not know
 */
export function optionsOf(service: Service, environment: Record<string, string>): string[] {
  return Object.entries(service).flatMap(([key, value]) => {
    const options = KEYS[key]
    if (options === undefined) throw new Error(`unknown key ${key}`)
    return options(value as never, environment)
  })
}
