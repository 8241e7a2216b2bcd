import { existsSync } from 'node:fs'
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { Conflict, reasonOf, StartError } from '../../errors.ts'
import { type Db, query, transaction } from '../../store/database.ts'
import * as rollovers from '../../store/domains/rollovers.ts'
import * as spent from '../../store/domains/spent.ts'
import { type Counts, dump, exportSnapshot, load, otherSessions, readDump, tables } from '../../store/dump.ts'
import type { StoredSecret } from '../../store/encrypted.ts'
import { lockSchema, migrate, refuseUnknown } from '../../store/migrate.ts'
import * as standbys from '../../store/standbys.ts'
import * as marks from '../../store/zone/marks.ts'
import type { System } from '../../system.ts'
import { usePrimary } from './change-over.ts'
import { requireDecryptionOf } from './stored-secrets.ts'

/**
 * Tables whose rows are useful for only a few hours. Work has secrets in clear, and would be done a second time. The active
 * PowerDNS of then may be gone.
 */
const LEFT_OUT = ['work', 'mails', 'confirmations', 'captchas', 'sign_ins', 'primaries', 'standby_zones'].map(
  (name) => `public.${name}`,
)

/** Milliseconds after which any unfinished backup counts as abandoned. */
const PART_LIFETIME = 86_400_000

/** The contents of a backup. */
export interface Contents {
  /** The rows of all tables, by their names, such as `public.domains`. */
  counts: Counts
  /** The newest migration. */
  schema: string
  migrations: string[]
  /** The keys of at most two domains, and a second factor if any, for trials of KEY_ENCRYPTION_KEYS. */
  secrets: StoredSecret[]
}

/** A new backup. */
export interface Backup {
  contents: Contents
  /** Octets. */
  size: number
  /** The reason why KEY_ENCRYPTION_KEYS does not fit it. */
  problem: string | undefined
}

/**
 * Writes the database to a new file, which appears only when it is complete, and which only its owner can read. Counts
 * all rows in the file, and compares them with those of the database in the same snapshot. Deletes what killed backups
 * have left in the folder.
 * @throws StartError, Conflict if the file exists
 */
export async function backUp(system: System, file: string, signal: AbortSignal): Promise<Backup> {
  if (existsSync(file)) throw new Conflict(`${file} exists already; nothing was written`)
  await removeAbandoned(dirname(file)).catch(() => undefined)
  const part = `${file}.${process.pid}@${hostname()}.part`
  const handle = await open(part, 'wx', 0o600).catch(refused)
  try {
    const save = async (trx: Db) => {
      const { snapshot, counts } = await exportSnapshot(trx, await tables(trx))
      await dump(trx, system.config.databaseUrl!, { file: handle.fd, snapshot, leftOut: LEFT_OUT, signal })
      return counts
    }
    const expected = await transaction(system.db, save, { anySchema: true })
    await handle.sync()
    const { size } = await handle.stat()
    const contents = await examine(system, part, signal)
    for (const [table, count] of expected) {
      const found = contents.counts.get(table) ?? 0
      if (found === count || LEFT_OUT.includes(table)) continue
      throw new StartError(`the backup has ${found} rows of ${table}, the database ${count}; it was deleted`)
    }
    await rename(part, file)
    await syncFolder(dirname(file))
    return { contents, size, problem: decryptionProblem(system, contents) }
  } finally {
    await handle.close()
    await rm(part, { force: true })
  }
}

/** Deletes unfinished backups whose process has ended: seen by its id on this machine, otherwise by their age. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid, host] = /\.([1-9][0-9]*)@([^@]+)\.part$/.exec(name) ?? []
    if (pid === undefined) continue
    const path = join(folder, name)
    const isOld = (await stat(path)).mtimeMs < Date.now() - PART_LIFETIME
    if (isOld || (host === hostname() && !isOther(Number(pid)))) await rm(path, { force: true }).catch(() => undefined)
  }
}

/** Reports whether another process has this id; a backup of this process has not begun. */
function isOther(pid: number): boolean {
  try {
    return pid !== process.pid && process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Makes the name of a new file durable. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path)
  await folder.sync().finally(() => folder.close())
}

function refused(error: unknown): FileHandle {
  throw new StartError(reasonOf(error), { cause: error })
}

function decryptionProblem(system: System, { secrets }: Contents): string | undefined {
  try {
    requireDecryptionOf(system, secrets)
    return undefined
  } catch (error) {
    return reasonOf(error)
  }
}

/** Reads the whole of a backup. @throws StartError if it is damaged, or not one of Zoneplane */
async function examine(system: System, file: string, signal?: AbortSignal): Promise<Contents> {
  const migrations: string[] = []
  const names = new Map<string, string>()
  const ends: { domainId: number; secret: Buffer }[] = []
  let factor: StoredSecret | undefined
  const counts = await readDump(
    system.db,
    file,
    {
      'public.knex_migrations': ({ name }) => migrations.push(name!),
      'public.domains': ({ id, name }) => names.set(id!, name!),
      'public.deleted_domains': ({ id, name }) => names.set(id!, name!),
      'public.keys'({ domain_id, secret }) {
        const key = { domainId: Number(domain_id), secret: octets(secret!) }
        if (ends.length === 0 || key.domainId < ends[0]!.domainId) ends[0] = key
        if (ends.length === 1 || key.domainId > ends[1]!.domainId) ends[1] = key
      },
      'public.totp_factors'({ id, secret }) {
        factor = { table: 'totp_factors', owner: id!, secret: octets(secret!) }
      },
    },
    signal,
  )
  const schema = migrations.sort().at(-1)
  if (schema === undefined) throw new StartError(`${file} has no tables of Zoneplane`)
  const secrets = ends.map(({ domainId, secret }): StoredSecret => {
    return { table: 'keys', owner: names.get(String(domainId)) ?? 'unknown', secret }
  })
  return { counts, schema, migrations, secrets: factor === undefined ? secrets : [...secrets, factor] }
}

/** Returns the octets of a bytea in the text format of COPY, which doubles its backslash. */
function octets(text: string): Buffer {
  return Buffer.from(text.slice('\\\\x'.length), 'hex')
}

/**
 * Fills an empty database from a backup, all or nothing, and brings its schema up to date. Leaves the zones unchanged.
 * @throws StartError if the backup is damaged, of a newer version or encrypted with other keys; Conflict if the
 *   database is not empty or in use. Then nothing was written
 */
export async function restoreDatabase(system: System, file: string): Promise<Contents> {
  const url = system.config.databaseUrl!
  await (await open(file).catch(refused)).close()
  const contents = await examine(system, file)
  await refuseUnknown(contents.migrations).catch((error: unknown) => {
    throw new StartError(`${file}: ${reasonOf(error)}`)
  })
  requireDecryptionOf(system, contents.secrets)
  const fill = async (trx: Db) => {
    // A service that starts now waits for this lock.
    await lockSchema(trx)
    const [table] = await tables(trx)
    if (table !== undefined) {
      throw new Conflict(
        `the database is not empty: it has the table ${table}. Nothing was changed. Restore into a new database, made ` +
          'with `createdb`, or delete this one first, with `dropdb`',
      )
    }
    if ((await otherSessions(trx)) > 0) {
      throw new Conflict('others are connected to the database: stop all services first. Nothing was changed')
    }
    await load(trx, url, file)
    await spent.skipSerials(trx)
    if (contents.migrations.includes('28_rollovers')) {
      for (const name of await rollovers.distrust(trx)) await marks.setOwn(trx, name)
    }
    if ((contents.counts.get('public.standbys') ?? 0) > 0) {
      const { members } = system.primaries
      const known = members.length > 1 ? members.map(({ name }) => name) : []
      await standbys.distrust(trx, known, system.config.catalogZone)
    }
  }
  await transaction(system.db, fill, { anySchema: true })
  await migrate(url)
  await usePrimary(system)
  // Otherwise Postgres would have no statistics at first.
  await query(system.db, 'analyze')
  return contents
}
