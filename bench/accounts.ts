import { Pool } from 'undici'
import { openDatabase, query } from '../src/store/database.ts'
import { alternating, percentile, state } from './support/measure.ts'
import type { Setup } from './support/setup.ts'

// Whether the response time reveals that an account exists: for each kind of request, 5,000 about an account that
// exists, 5,000 about accounts that do not, and 5,000 more about such accounts, to measure the noise. They alternate,
// because the speed of a machine varies.

const REQUESTS = 5_000
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

  // Requests that wait for a timer, not for a processor, can run in parallel.
  for (const [kind, chains, ask] of [
    ['login', 1, (email: string) => post('/auth/login/', { email, password: 'wrong password' }, 403)],
    ['registration', 16, (email: string) => post('/auth/', { email, password: PASSWORD }, 202)],
    ['reset', 16, (email: string) => post('/auth/account/reset-password/', { email }, 202)],
  ] as const) {
    const runs = REQUESTS / chains
    const times = await Promise.all(
      Array.from({ length: chains }, async (_, chain) => {
        const tasks = [
          () => ask(KNOWN),
          (i: number) => ask(`${kind}-${chain}-${i}@absent.test`),
          (i: number) => ask(`${kind}-${chain}-${i}@nowhere.test`),
        ]
        // The chains run in step, so each starts with another task: at any moment all tasks are equally frequent.
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
