import test from 'ava'
import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { readConfig } from '../../src/config.ts'
import { removeInstanceFolder } from '../../dev/instance-folder.ts'
import { startPowerDns, type PowerDns } from '../../dev/powerdns.ts'
import { createLog } from '../../src/log.ts'
import { closeSystem, createSystem, serve, type Backends, type Running } from '../../src/server.ts'
import { hashSecret } from '../../src/service/tokens/authentication.ts'
import { generateSecret } from '../../src/service/tokens/secrets.ts'
import { openDatabase, query } from '../../src/store/database.ts'
import type { System } from '../../src/system.ts'
import { Client } from './client.ts'
import { startProxy, type Proxy } from './proxy.ts'

/** A PowerDNS, a proxy in front of its API, a database of its own, and the service on top: what a test file shares. */
export interface World {
  system: System
  /** Where the service listens, without path. */
  url: string
  backends: Backends
  powerDns: PowerDns
  /** What the service talks to as PowerDNS; it records and injects faults. */
  proxy: Proxy
  /** What the service has logged so far. */
  logged: () => string
  /** A client without token. */
  anonymous: Client
  /** A new account, and a client with a token of its own. */
  account(options?: AccountOptions): Promise<Account>
}

export interface AccountOptions {
  limitDomains?: number | null
  permCreateDomain?: boolean
  permDeleteDomain?: boolean
  permManageTokens?: boolean
}

export interface Account {
  id: string
  tokenId: string
  secret: string
  api: Client
}

/** Gives a test file its world, from before its first test until after its last. */
export function useWorld(environment: Record<string, string> = {}): () => World {
  let world: { world: World; close: () => Promise<void> } | undefined
  // Serial, so that a file's own preparations come after it.
  test.serial.before('the world is made', async () => {
    world = await openWorld(environment)
  })
  test.after.always('the world is given back', async () => {
    await world?.close()
  })
  return () => world!.world
}

/** A world for one test. */
export async function withWorld(
  environment: Record<string, string>,
  work: (world: World) => Promise<void>,
): Promise<void> {
  const { world, close } = await openWorld(environment)
  try {
    await work(world)
  } finally {
    await close()
  }
}

async function openWorld(environment: Record<string, string>): Promise<{ world: World; close: () => Promise<void> }> {
  const folder = mkdtempSync(join(process.env['TEST_FOLDER']!, 'world-'))
  const pdnsFolder = join(folder, 'pdns')
  const [powerDns, database] = await Promise.all([
    startPowerDns(pdnsFolder, { dnsPort: 0, durable: false, progress: () => undefined }),
    createDatabase(),
  ])
  const proxy = await startProxy(powerDns.apiUrl)
  const backends = { databaseUrl: database.url, pdnsApiUrl: proxy.url, pdnsApiKey: powerDns.apiKey }
  const { system, running, logged } = await startService(backends, environment)
  const url = `http://127.0.0.1:${running.port}`
  const world: World = {
    system,
    url,
    backends,
    powerDns,
    proxy,
    logged,
    anonymous: new Client(url),
    account: (options) => createAccount(system, url, options),
  }
  return {
    world,
    async close() {
      proxy.heal()
      await running.stop()
      await closeSystem(system)
      await proxy.close()
      await powerDns.stop()
      await removeInstanceFolder(pdnsFolder)
      await database.drop()
    },
  }
}

/** The service in this process, on a free port. */
export async function startService(
  backends: Backends,
  environment: Record<string, string> = {},
): Promise<{ system: System; running: Running; logged: () => string }> {
  const lines: string[] = []
  const stream = new PassThrough().on('data', (line: Buffer) => lines.push(line.toString()))
  const data = mkdtempSync(join(process.env['TEST_FOLDER']!, 'data-'))
  const config = readConfig({ HOST: '127.0.0.1', PORT: '0', ZONEPLANE_DATA: data, THROTTLE: 'off', ...environment })
  const system = createSystem(config, backends, createLog(config.logLevel, stream))
  return { system, running: await serve(system), logged: () => lines.join('') }
}

/** A copy of the migrated template. */
export async function createDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const server = process.env['TEST_POSTGRES_URL']!
  const name = `test_${randomBytes(6).toString('hex')}`
  const run = async (sql: string) => {
    const db = openDatabase(server, 1)
    await query(db, sql).finally(() => db.end())
  }
  await run(`create database ${name} template template_zoneplane`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => run(`drop database ${name} with (force)`) }
}

export async function createAccount(system: System, url: string, options: AccountOptions = {}): Promise<Account> {
  const { limitDomains = null, permCreateDomain = true, permDeleteDomain = true, permManageTokens = true } = options
  const email = `${randomBytes(6).toString('hex')}@example.test`
  const secret = generateSecret()
  const now = system.now()
  const [account] = await query<{ id: string }>(
    system.db,
    `insert into accounts (created, email, state, limit_domains, credentials_changed)
     values (:now, :email, 'active', :limitDomains, :now) returning id`,
    { now, email, limitDomains },
  )
  const { id } = account!
  const [token] = await query<{ id: string }>(
    system.db,
    `insert into tokens
       (created, owner_id, secret_hash, perm_create_domain, perm_delete_domain, perm_manage_tokens)
     values (:now, :id, :hash, :permCreateDomain, :permDeleteDomain, :permManageTokens) returning id`,
    { now, id, hash: hashSecret(secret), permCreateDomain, permDeleteDomain, permManageTokens },
  )
  return { id, tokenId: token!.id, secret, api: new Client(url, secret) }
}

/** Waits until `condition` holds; for what happens by itself, such as repair. */
export async function eventually(condition: () => Promise<boolean>, within = 20_000): Promise<void> {
  const end = Date.now() + within
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`not within ${within} ms`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
