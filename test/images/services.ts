import { readCompose } from '../support/compose.ts'
import { eventually } from '../support/eventually.ts'
import { imageOf, optionsOf } from './compose.ts'
import { podman } from './podman.ts'

/** The network of the services, in which each has its name. */
const NETWORK = 'zoneplane'

export const compose = readCompose()
export type Name = keyof typeof compose.services
/** In the order in which they start. */
export const names: Name[] = ['postgres', 'powerdns', 'api']

/** Ends and deletes all containers, volumes and networks, and makes the network anew. */
export async function clear(): Promise<void> {
  await podman('rm', '--all', '--force', '--time=0')
  await podman('volume', 'rm', '--all', '--force')
  await podman('network', 'rm', '--force', NETWORK)
  await podman('network', 'create', '--ipv6', NETWORK)
}

/** Makes and starts the container of a service, in place of the one before. `more`: other options of `podman create`. */
export async function start(name: Name, environment: Record<string, string>, ...more: string[]): Promise<void> {
  await create(name, environment, more)
  await podman('start', name)
}

/** Runs a command in a container as the service has it, and returns what it prints. */
export async function runOnce(
  name: Name,
  environment: Record<string, string>,
  command: string[],
  more: string[] = [],
): Promise<string> {
  await create(name, environment, more, command)
  return podman('start', '--attach', name)
}

async function create(
  name: Name,
  environment: Record<string, string>,
  more: string[],
  command: string[] = [],
): Promise<void> {
  const service = compose.services[name]
  const options = [`--name=${name}`, `--hostname=${name}`, `--network=${NETWORK}`, ...optionsOf(service, environment)]
  await podman('create', '--replace', ...options, ...more, imageOf(name, service), ...command)
}

/** Waits until the container's health check says that the service works. */
export async function healthy(name: string): Promise<void> {
  await eventually(() => isHealthy(name))
}

async function isHealthy(name: string): Promise<boolean> {
  return podman('healthcheck', 'run', name).then(
    () => true,
    () => false,
  )
}

/** Stops a service as `docker compose stop` does, and returns its exit code: 137 if it had to be killed. */
export async function stop(name: string): Promise<number> {
  await podman('stop', name)
  return Number(await podman('inspect', '--format={{.State.ExitCode}}', name))
}

export async function addressOf(name: Name, family: 'IPAddress' | 'GlobalIPv6Address'): Promise<string> {
  return podman('inspect', `--format={{(index .NetworkSettings.Networks "${NETWORK}").${family}}}`, name)
}
