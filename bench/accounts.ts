import { Pool } from 'undici'
import { openDatabase, query } from '../src/store/database.ts'
import { alternating, percentile, state } from './measure.ts'
import type { Setup } from './setup.ts'

// Whether the time of an answer tells that an account exists: 10,000 requests of each kind, half of them about one that
// does, and 5,000 more about others that do not, which tell what is noise. They take turns, because the speed of a
// machine wanders.

const REQUESTS = 10_000
const PASSWORD = 'correct horse battery'
const KNOWN = 'known@exists.test'

export const accountSettings = { REGISTRATION: 'open', LOG_LEVEL: 'warn' }

export async function accounts({ url, databaseUrl }: Setup): Promise<void> {
  const pool = new Pool(url, { connections: 16, pipelining: 1 })
  const post = async (path: string, body: unknown, status: number) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await pool.request({ method: 'POST', path: `/api/v1${path}`, headers, body: JSON.stringify(body) })
    const text = await answer.body.text()
    if (answer.statusCode !== status) throw new Error(`POST ${path}: ${answer.statusCode} ${text}`)
  }
  await post('/auth/', { email: KNOWN, password: PASSWORD }, 202)
  const db = openDatabase(databaseUrl, 1)
  await query(db, `update accounts set state = 'active' where email = :known`, { known: KNOWN })
  await db.end()

  // What waits for its time, not for a processor, can be done by many at once.
  for (const [kind, chains, ask] of [
    ['login', 1, (email: string) => post('/auth/login/', { email, password: 'wrong password' }, 403)],
    ['registration', 16, (email: string) => post('/auth/', { email, password: PASSWORD }, 202)],
    ['reset', 16, (email: string) => post('/auth/account/reset-password/', { email }, 202)],
  ] as const) {
    const runs = REQUESTS / 2 / chains
    const times = await Promise.all(
      Array.from({ length: chains }, async (_, chain) => {
        const tasks = [
          () => ask(KNOWN),
          (i: number) => ask(`${kind}-${chain}-${i}@absent.test`),
          (i: number) => ask(`${kind}-${chain}-${i}@nowhere.test`),
        ]
        // The chains keep step with each other; at each moment there shall be as many of each kind.
        const order = [0, 1, 2].map((which) => (which + chain) % 3)
        const lists = await alternating(runs, ...order.map((which) => tasks[which]!))
        return new Map(order.map((which, i) => [which, lists[i]!]))
      }),
    )
    for (const [which, what] of ['the account exists', 'it does not', 'others that do not'].entries()) {
      const all = times.flatMap((lists) => lists.get(which)!).sort((a, b) => a - b)
      state(`${kind}: ${what}, p50`, `${percentile(all, 0.5).toFixed(2)} ms`)
    }
  }
  await pool.close()
}
