import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { Pool } from 'undici'
import { startStack } from '../src/dev/stack.ts'
import { projectFolder } from '../src/dev/project.ts'
import { removeInstanceFolders } from '../src/dev/instance-folder.ts'

const TOKEN = 'benchmark-token-secret'

/** The service and the PowerDNS behind it, each reached in the same way. */
export interface World {
  /** Sends a request to the service; resolves with the answer's JSON. */
  api: (method: string, path: string, body?: unknown) => Promise<unknown>
  /** Reads with any secret, whatever the answer. */
  read: (path: string, secret?: string) => Promise<{ status: number; link: string }>
  /** The same as `api` to PowerDNS itself. */
  raw: (method: string, path: string, body?: unknown) => Promise<unknown>
  databaseUrl: string
  /** Where the service listens, without path. */
  url: string
  /** The service's process. */
  pid: number
  /** For how many milliseconds the service's event loop was blocked at most since this was asked last. */
  blocked: () => Promise<number>
}

/**
 * Runs `work` in a world of durable private servers and a service of its own process; nothing is left of it.
 * @param settings of the service, beside those that every bench has
 */
export async function withWorld(
  work: (world: World) => Promise<void>,
  settings: Record<string, string> = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'zoneplane-bench-'))
  const stack = await startStack(folder, {
    postgres: true,
    powerDns: { dnsHost: '127.0.0.1', dnsPort: 0 },
    progress: () => undefined,
  })
  const service = spawn(
    process.execPath,
    ['--import', pathToFileURL(build('bench/loop.js')).href, build('src/main.js')],
    {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      env: {
        ...process.env,
        HOST: '127.0.0.1',
        PORT: '0',
        THROTTLE: 'off',
        LIMIT_DOMAINS: 'none',
        ZONEPLANE_DATA: join(folder, 'service'),
        ZONEPLANE_TOKEN: TOKEN,
        NAMESERVERS: 'ns1.bench.test, ns2.bench.test',
        DATABASE_URL: stack.databaseUrl,
        PDNS_API_URL: stack.pdnsApiUrl,
        PDNS_API_KEY: stack.pdnsApiKey,
        ...settings,
      },
    },
  )
  try {
    const base = await baseUrl(service.stdout!)
    const ours = new Pool(new URL(base).origin, { connections: 8, pipelining: 1 })
    const theirs = new Pool(stack.pdnsApiUrl!, { connections: 8, pipelining: 1 })
    const headers = { 'content-type': 'application/json' }
    await work({
      api: (method, path, body) =>
        send(ours, method, `/api/v1${path}`, { ...headers, authorization: `Token ${TOKEN}` }, body),
      read: async (path, secret = TOKEN) => {
        const answer = await ours.request({
          method: 'GET',
          path: `/api/v1${path}`,
          headers: { authorization: `Token ${secret}` },
        })
        await answer.body.dump()
        return { status: answer.statusCode, link: String(answer.headers['link'] ?? '') }
      },
      raw: (method, path, body) =>
        send(theirs, method, `/api/v1/servers/localhost${path}`, { ...headers, 'x-api-key': stack.pdnsApiKey! }, body),
      databaseUrl: stack.databaseUrl!,
      url: new URL(base).origin,
      pid: service.pid!,
      blocked: async () => {
        service.send('blocked')
        const [milliseconds] = (await once(service, 'message')) as [number]
        return milliseconds
      },
    })
    await ours.close()
    await theirs.close()
  } finally {
    service.kill('SIGTERM')
    if (service.exitCode === null) await once(service, 'exit')
    await stack.stop()
    await removeInstanceFolders(folder)
    rmSync(folder, { recursive: true, force: true })
  }
}

function build(file: string): string {
  return join(projectFolder(), 'build', file)
}

async function baseUrl(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const url = /API\s+(http\S+)/.exec(line)?.[1]
    if (url !== undefined) {
      output.resume()
      return url
    }
  }
  throw new Error('the service did not start')
}

async function send(
  pool: Pool,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: unknown,
): Promise<unknown> {
  const answer = await pool.request({
    method: method,
    path,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  })
  const text = await answer.body.text()
  if (answer.statusCode >= 400) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}
