import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { projectFolder } from '../../../../src/installation/project.ts'
import { eventually, eventuallyIs } from '../../eventually.ts'
import { newFolder } from '../folders.ts'
import { installed, startProgram } from '../programs.ts'

// HAProxies with the configurations of docs/deployment.md.

/** A running HAProxy. */
export interface Balancer {
  /** Waits until it sends requests, or connections, to this server. */
  sendsTo: (server: string) => Promise<void>
  stop: () => Promise<void>
}

/** The one in front of the API processes. */
export interface Haproxy extends Balancer {
  /** Where clients reach the API, without path. */
  url: string
  /** The certificate that they have to trust. */
  certificate: string
}

/**
 * Starts docs/examples/haproxy.cfg, with other addresses and certificate.
 * @param network the beginning of all addresses: HAProxy has number 10
 */
export async function startHaproxy(network: string): Promise<Haproxy> {
  const folder = newFolder()
  const own = `${network}10`
  const { private: key, cert } = await generate([{ name: 'commonName', value: own }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: own }] }],
  })
  const certificate = join(folder, 'zoneplane.pem')
  writeFileSync(certificate, key + cert)
  chmodSync(certificate, 0o600)
  const text = example('haproxy.cfg', network)
    .replace('bind :80\n', `bind ${own}:8000\n`)
    .replace('bind :443 ', `bind ${own}:8443 `)
    .replace('bind 127.0.0.1:', `bind ${own}:`)
    .replace('/etc/haproxy/zoneplane.pem', certificate)
  const balancer = await start(folder, text, 'processes', `http://${own}:8404/;csv`)
  return { ...balancer, url: `https://${own}:8443`, certificate: cert }
}

/**
 * Starts docs/examples/haproxy-postgres.cfg, with other addresses.
 * @param network the beginning of all addresses: HAProxy has number 20, where it listens on port 5432
 */
export async function startPostgresHaproxy(network: string): Promise<Balancer> {
  const own = `${network}20`
  const text = example('haproxy-postgres.cfg', network).replaceAll('bind 127.0.0.1:', `bind ${own}:`)
  return start(newFolder(), text, 'postgres', `http://${own}:8405/;csv`)
}

async function start(folder: string, text: string, backend: string, statistics: string): Promise<Balancer> {
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, text, { mode: 0o600 })
  const { child, ended, output } = startProgram(installed('haproxy'), ['-db', '-f', file], {
    PATH: process.env['PATH'],
  })
  const state = async (server: string) => {
    const answer = await fetch(statistics).catch(() => undefined)
    const [titles, ...rows] = ((await answer?.text()) ?? '').split('\n').map((line) => line.split(','))
    const row = rows.find(([proxy, name]) => proxy === backend && name === server)
    return row?.[titles!.indexOf('status')]
  }
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(output())
    return (await state('BACKEND')) !== undefined
  })
  return {
    sendsTo: (server) => eventuallyIs(() => state(server), 'UP'),
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

function example(name: string, network: string): string {
  const text = readFileSync(join(projectFolder(), 'docs', 'examples', name), 'utf8').replaceAll('10.0.0.', network)
  // Only root can become another user.
  return process.getuid?.() === 0 ? text : text.replace(/^\t(user|group|chroot) .*\n/gm, '')
}
