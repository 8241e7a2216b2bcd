import { absolute } from '../../dns/names.ts'
import { Conflict, NotFound } from '../../errors.ts'
import type { Member } from '../../nameserver/cluster/cluster.ts'
import type { Nameserver } from '../../nameserver/nameserver.ts'
import { transaction } from '../../store/database.ts'
import * as domains from '../../store/domains/domains.ts'
import * as store from '../../store/primaries.ts'
import * as standbys from '../../store/standbys.ts'
import * as marks from '../../store/zone/marks.ts'
import type { System } from '../../system.ts'
import { serialOf } from '../repair/standbys.ts'
import { TOLERANCE } from './change-over.ts'

// What the operator sees and does of several PowerDNS (primaries.md).

/** Milliseconds that a primary has to answer an operator. */
const ANSWER_TIME = 5_000

/**
 * Counts the zones, and those that a member does not have as Postgres says. Zones that are marked, or written meanwhile, do
 * not count, unless they are to be copied there.
 */
async function lagOf(
  db: System['db'],
  member: string,
  nameserver: Nameserver,
): Promise<{ behind: number; all: number }> {
  const read = () => transaction(db, (trx) => domains.versions(trx))
  const before = await read()
  const serials = await nameserver.serials()
  const now = new Map((await read()).map(({ id, version }) => [id, version]))
  const marked = new Set((await marks.list(db)).map(({ zone }) => zone))
  const behind = new Set(await standbys.behind(db, member))
  for (const domain of before) {
    const { id, name, version } = domain
    const isWritten = now.get(id) !== version || marked.has(name)
    if (!isWritten && serials.get(absolute(name)) !== serialOf(domain)) behind.add(name)
  }
  return { behind: behind.size, all: before.length }
}

/** A primary, for the operator. */
export interface PrimaryStatus {
  name: string
  active: boolean
  answers: boolean
  /** True if it has a database of its own, to which zones are copied. */
  own: boolean
  /** The number of its zones that differ from Postgres, or wait to be copied; null if it does not answer. */
  behind: number | null
}

/** Lists the primaries in PDNS_API_URL. @throws Unavailable */
export async function listPrimaries({ db, primaries }: System): Promise<PrimaryStatus[]> {
  const active = (await store.find(db))?.name ?? primaries.active.name
  const own = await standbys.registered(db)
  return Promise.all(
    primaries.members.map(async ({ name, nameserver }) => {
      const answers = await nameserver.answers(ANSWER_TIME)
      const behind = answers ? (await lagOf(db, name, nameserver)).behind : null
      return { name, active: name === active, answers, own: own.includes(name), behind }
    }),
  )
}

/** Returns a member that is not the active one, and the active one. @throws NotFound, Conflict */
export async function standbyNamed(
  { db, primaries }: Pick<System, 'db' | 'primaries'>,
  name: string,
): Promise<{ member: Member; known: store.Primary }> {
  const member = primaries.members.find((each) => each.name === name)
  if (member === undefined)
    throw new NotFound(
      `${name} is not in PDNS_API_URL, which has ${primaries.members.map((each) => each.name).join(', ')}`,
    )
  const known = await store.current(db, primaries.active.name)
  if (known.name === name) throw new Conflict(`${name} is the active primary already`)
  return { member, known }
}

/**
 * Makes this primary the active one. The services follow within a second.
 * @param options.force also if zones differ there, which are repaired then
 * @throws NotFound, Conflict, NameserverFailure, Unavailable
 */
export async function changeTo({ db, primaries }: System, name: string, { force }: { force: boolean }): Promise<void> {
  const { member, known } = await standbyNamed({ db, primaries }, name)
  await member.nameserver.probe()
  const { behind, all } = await lagOf(db, name, member.nameserver)
  const tolerance = (await standbys.registered(db)).includes(name) ? TOLERANCE : 0
  if (behind > all * tolerance && !force)
    throw new Conflict(`${behind} of ${all} zones differ at ${name}; with --force, the service repairs them there`)
  if (!(await store.change(db, known.term, name, 0))) throw new Conflict('Somebody else has changed over meanwhile.')
}
