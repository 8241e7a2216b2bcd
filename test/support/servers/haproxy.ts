import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { findProgram } from '../../../dev/powerdns-program.ts'
import { projectFolder } from '../../../dev/project.ts'
import { eventually } from '../eventually.ts'
import { newFolder } from './folders.ts'
import { startProgram } from './programs.ts'

/** A HAProxy with the configuration of docs/deployment.md. */
export interface Haproxy {
  /** Where clients reach the API, without path. */
  url: string
  /** The certificate that they have to trust. */
  certificate: string
  /** Waits until it sends requests to this server. */
  sendsTo(server: string): Promise<void>
  stop(): Promise<void>
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
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, configuration(own, network, certificate))
  for (const each of [certificate, file]) chmodSync(each, 0o600)
  const { child, ended, output } = startProgram(findProgram('haproxy')!, ['-db', '-f', file], {
    PATH: process.env['PATH'],
  })
  const state = async (server: string) => {
    const answer = await fetch(`http://${own}:8404/;csv`).catch(() => undefined)
    const [titles, ...rows] = ((await answer?.text()) ?? '').split('\n').map((line) => line.split(','))
    const row = rows.find(([proxy, name]) => proxy === 'processes' && name === server)
    return row?.[titles!.indexOf('status')]
  }
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(output())
    return (await state('BACKEND')) !== undefined
  })
  return {
    url: `https://${own}:8443`,
    certificate: cert,
    sendsTo: (server) => eventually(async () => (await state(server)) === 'UP'),
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

function configuration(own: string, network: string, certificate: string): string {
  let text = readFileSync(join(projectFolder(), 'docs', 'examples', 'haproxy.cfg'), 'utf8')
    .replaceAll('10.0.0.', network)
    .replace('bind :80\n', `bind ${own}:8000\n`)
    .replace('bind :443 ', `bind ${own}:8443 `)
    .replace('bind 127.0.0.1:', `bind ${own}:`)
    .replace('/etc/haproxy/zoneplane.pem', certificate)
  // Only root can become another user.
  if (process.getuid?.() !== 0) text = text.replace(/^\t(user|group|chroot) .*\n/gm, '')
  return text
}
