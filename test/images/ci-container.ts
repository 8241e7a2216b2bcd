import type { Ports } from '../../src/private-servers/ports.ts'
import { Client } from '../support/clients/client.ts'
import { ask } from '../support/dns/dns.ts'
import { eventually } from '../support/eventually.ts'
import { CI_IMAGE } from './compose.ts'
import { podman } from './podman.ts'

export const TOKEN = 'ci-token-of-the-tests'

/** Where the image writes; asked once, because it takes a part of the time that is measured. */
let folders: string[] | undefined

async function volumes(): Promise<string[]> {
  const text = await podman('image', 'inspect', '--format={{json .Config.Volumes}}', CI_IMAGE)
  return Object.keys((JSON.parse(text) as object | null) ?? {})
}

/** Starts the container with nothing but memory to write to, as a user without a name, without any privilege. */
export async function start(ports: Ports): Promise<void> {
  folders ??= ['/tmp', ...(await volumes())]
  await podman(
    'run',
    '--detach',
    '--replace',
    '--name=ci',
    '--user=12345',
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
    '--read-only',
    '--read-only-tmpfs=false',
    ...folders.map((folder) => `--tmpfs=${folder}:rw,noexec,nosuid,nodev,notmpcopyup,mode=1777`),
    `--env=ZONEPLANE_TOKEN=${TOKEN}`,
    `--publish=127.0.0.1:${ports.api}:8080`,
    `--publish=127.0.0.1:${ports.dns}:5300/udp`,
    `--publish=127.0.0.1:${ports.dns}:5300/tcp`,
    CI_IMAGE,
  )
}

/** Waits until the API says that it is ready, and DNS answers with a signature. */
export async function ready(ports: Ports): Promise<void> {
  const client = new Client(`http://127.0.0.1:${ports.api}`)
  await eventually(async () => {
    const answer = await client.get('//root/readyz').catch(() => undefined)
    return answer?.status === 200
  })
  const isSigned = async () => {
    const server = { dnsHost: '127.0.0.1', dnsPort: ports.dns }
    const answer = await ask(server, 'example.test', 'SOA').catch(() => undefined)
    return answer?.answers.some(({ type }) => type === 'RRSIG') === true
  }
  await eventually(isSigned)
}

/** The memory of all processes in MiB: each page divided by the number of those who share it (PSS). */
export async function memory(): Promise<number> {
  const rollups = await podman('exec', 'ci', 'sh', '-c', 'cat /proc/[0-9]*/smaps_rollup')
  const sizes = [...rollups.matchAll(/^Pss:\s+(\d+) kB/gm)].map(([, size]) => Number(size))
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024)
}
