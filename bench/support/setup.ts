import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { finished } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import { Pool } from 'undici'
import { projectFolder } from '../../src/installation/project.ts'
import type { PowerDns } from '../../src/private-servers/powerdns.ts'
import { startStack } from '../../src/private-servers/stack.ts'
import type { Backends } from '../../src/process/create-system.ts'
import { apiUrl, environmentFor } from '../../test/support/servers/service.ts'
import type { Inside } from './inside.ts'

const TOKEN = 'benchmark-token-secret'

/** A service in its own process. */
export interface Service {
  /** Sends a request; resolves to the JSON of the response. */
  api: (method: string, path: string, body?: unknown) => Promise<unknown>
  /** Sends text as the body, with any secret; resolves to the status of the response, and discards its body. */
  send: (method: string, path: string, text: string, secret?: string) => Promise<number>
  /** Sends a GET with any secret; resolves to the status, whichever it is. */
  read: (path: string, secret?: string) => Promise<number>
  /** Its base URL, without path. */
  url: string
  pid: number
  inside: () => Promise<Inside>
  /** Ends it; all that are left end with the bench. */
  stop: () => Promise<void>
}

/** A service and its PowerDNS. */
export interface Setup extends Service {
  /** Like `api`, for PowerDNS itself. */
  raw: (method: string, path: string, body?: unknown) => Promise<unknown>
  /** The servers, for commands. */
  backends: Backends
  databaseUrl: string
  pdnsApiUrl: string
  /** Its PowerDNS. */
  primary: PowerDns
  /** The secret of the token that `api` uses. */
  secret: string
  /** Starts another service on the same servers, with other settings. */
  another: (environment: Record<string, string>) => Promise<Service>
}

/**
 * Runs `work` with private servers and a service in its own process, and removes them afterwards.
 * @param settings of the service, in addition to those of every bench
 * @param fill runs before, on the same data: its servers need not be durable, so it can store much
 */
export async function withSetup(
  work: (setup: Setup) => Promise<void>,
  settings: Record<string, string> = {},
  fill?: (setup: Setup) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'zoneplane-bench-'))
  // The servers may run as other users.
  chmodSync(folder, 0o711)
  try {
    if (fill !== undefined) await inFolder(folder, fill, settings, false)
    await inFolder(folder, work, settings, true)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function inFolder(
  folder: string,
  work: (setup: Setup) => Promise<void>,
  settings: Record<string, string>,
  durable: boolean,
): Promise<void> {
  const stack = await startStack(folder, {
    postgres: true,
    powerDns: { dnsPort: 0 },
    durable,
    progress: () => undefined,
  })
  const backends = {
    databaseUrl: stack.postgres!.url,
    pdnsApiUrl: stack.powerDns!.apiUrl,
    pdnsApiKey: stack.powerDns!.apiKey,
  }
  const stops: (() => Promise<void>)[] = []
  const start = async (environment: Record<string, string> = {}) => {
    const data = join(folder, `service-${stops.length}`)
    const common = {
      LIMIT_DOMAINS: 'none',
      NAMESERVERS: 'ns1.bench.test, ns2.bench.test',
      ZONEPLANE_DATA: data,
      ZONEPLANE_TOKEN: TOKEN,
    }
    const service = await startService(environmentFor(backends, { ...common, ...environment }), `${data}.log`)
    stops.push(service.stop)
    return service
  }
  const theirs = new Pool(backends.pdnsApiUrl, { connections: 8, pipelining: 1 })
  const headers = { 'content-type': 'application/json', 'x-api-key': backends.pdnsApiKey }
  try {
    await work({
      ...(await start(settings)),
      raw: (method, path, body) => send(theirs, method, `/api/v1/servers/localhost${path}`, headers, body),
      backends,
      databaseUrl: backends.databaseUrl,
      pdnsApiUrl: backends.pdnsApiUrl,
      primary: stack.powerDns!,
      secret: TOKEN,
      another: start,
    })
  } finally {
    await theirs.close()
    await Promise.all(stops.map((stop) => stop()))
    await stack.stop()
  }
}

async function startService(env: NodeJS.ProcessEnv, log: string): Promise<Service> {
  const child = spawn(
    process.execPath,
    ['--import', pathToFileURL(build('bench/support/inside.js')).href, build('src/cli.js'), 'start'],
    // The log goes to a file, so that this process does not spend CPU time on reading it.
    { stdio: ['ignore', 'pipe', openSync(log, 'w'), 'ipc'], env },
  )
  const stop = async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  }
  try {
    const url = await baseUrl(child.stdout!)
    const pool = new Pool(url, { connections: 8, pipelining: 1 })
    const headers = { 'content-type': 'application/json', authorization: `Token ${TOKEN}` }
    return {
      api: (method, path, body) => send(pool, method, `/api/v1${path}`, headers, body),
      send: async (method, path, text, secret = TOKEN) => {
        const authorization = `Token ${secret}`
        const answer = await pool.request({
          ...{ method, path: `/api/v1${path}`, headers: { ...headers, authorization } },
          body: text,
        })
        answer.body.resume()
        await finished(answer.body)
        return answer.statusCode
      },
      read: async (path, secret = TOKEN) => {
        const answer = await pool.request({
          method: 'GET',
          path: `/api/v1${path}`,
          headers: { authorization: `Token ${secret}` },
        })
        await answer.body.dump()
        return answer.statusCode
      },
      url,
      pid: child.pid!,
      inside: async () => {
        child.send('report')
        const [report] = (await once(child, 'message')) as [Inside]
        return report
      },
      async stop() {
        if (!pool.closed) await pool.close()
        await stop()
      },
    }
  } catch (error) {
    await stop()
    throw new Error(readFileSync(log, 'utf8'), { cause: error })
  }
}

function build(file: string): string {
  return join(projectFolder(), 'build', file)
}

async function baseUrl(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const url = apiUrl(line)
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
    method,
    path,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  })
  const text = await answer.body.text()
  if (answer.statusCode >= 400) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}
