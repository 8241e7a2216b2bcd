import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { openDatabase, query } from '../src/store/database.ts'
import { Client } from '../test/support/clients/client.ts'
import { hold, plainRequest } from '../test/support/clients/raw.ts'
import { percentile, state } from './support/measure.ts'
import { changesFor, createOtherAccount, tally } from './support/other-account.ts'
import type { Setup } from './support/setup.ts'
import { zone } from './support/zones.ts'

// How requests that cost their sender little affect the writes of another account, with throttling as shipped.

const SECONDS = 10
/** Milliseconds between the writes that are measured, so that throttling lets them pass. */
const PAUSE = 150
const OTHER = 'the-secret-of-the-other-account'

/** Runs until stopped, and resolves with the statuses of its answers. */
type Attack = (url: string, secret: string, stop: AbortSignal) => Promise<number[]>

const attacks: Record<string, Attack> = {
  '1,200 connections that ask /readyz each second': (url, _, stop) =>
    repeatedly(url, 1_200, 'GET', '/readyz', {}, stop),
  "800 connections that delete another's domain": (url, secret, stop) =>
    repeatedly(url, 800, 'DELETE', `/api/v1/domains/${zone('victim')}/`, { authorization: `Token ${secret}` }, stop),
  '40 connections that ask for 31 MB each second, and do not read it': async (url, secret, stop) => {
    const request = plainRequest(`GET /api/v1/domains/${zone('large')}/rrsets/?cursor=`, [
      `Authorization: Token ${secret}`,
    ])
    setMaxListeners(0, stop)
    const statuses: number[] = []
    const client = async () => {
      while (!stop.aborted) {
        const pause = sleep(1000)
        const { socket, answer } = await hold(url, request)
        socket.once('data', (octets: Buffer) => {
          if (octets.toString().startsWith('HTTP/1.1 200')) socket.pause()
        })
        const end = () => socket.destroy()
        stop.addEventListener('abort', end, { once: true })
        statuses.push((await answer).status)
        stop.removeEventListener('abort', end)
        await pause
      }
    }
    await Promise.all(Array.from({ length: 40 }, client))
    return statuses
  },
}

export async function attacksOnOthers({ databaseUrl, another, api, secret }: Setup): Promise<void> {
  await createOtherAccount(databaseUrl, OTHER)
  await api('POST', '/domains/', { name: zone('large') })
  await addLargeRRsets(databaseUrl, zone('large'))
  const { url } = await another({ THROTTLE: 'on' })
  const other = new Client(url, OTHER)
  await other.post('/domains/', { name: zone('victim') })
  for (const [i, [title, attack]] of Object.entries(attacks).entries()) {
    const name = zone(`other${i}`)
    await other.post('/domains/', { name })
    const alone = await changesFor(other, name, SECONDS, PAUSE)
    const stop = new AbortController()
    const attacking = attack(url, secret, stop.signal)
    await sleep(2_000)
    const together = await changesFor(other, name, SECONDS, PAUSE)
    stop.abort()
    state(`${title}: change alone, p50`, `${percentile(alone.times, 0.5).toFixed(1)} ms`)
    state('  during the attack', `${percentile(together.times, 0.5).toFixed(1)} ms`)
    state('  answers', tally(together.statuses))
    state('  answers to the attack', tally(await attacking))
  }
}

/** Sends the request once a second on each of the connections, from several addresses. */
async function repeatedly(
  url: string,
  connections: number,
  method: 'GET' | 'DELETE',
  path: string,
  headers: Record<string, string>,
  stop: AbortSignal,
): Promise<number[]> {
  const statuses: number[] = []
  const pools = ['127.0.0.1', '127.0.0.2'].map(
    (localAddress) => new Pool(url, { connections: connections / 2, pipelining: 1, connect: { localAddress } }),
  )
  const client = async (i: number) => {
    await sleep(1000 * Math.random())
    while (!stop.aborted) {
      const pause = sleep(1000)
      const answer = await pools[i % pools.length]!.request({ method, path, headers }).catch(() => undefined)
      await answer?.body.dump()
      // 0: the connection was closed.
      statuses.push(answer?.statusCode ?? 0)
      await pause
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, i) => client(i)))
  await Promise.all(pools.map((pool) => pool.close()))
  return statuses
}

/** 500 RRsets of some 62,000 octets. */
async function addLargeRRsets(databaseUrl: string, name: string): Promise<void> {
  const db = openDatabase(databaseUrl, 1)
  await query(
    db,
    `insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
     select domains.id, 'text' || i, 'TXT', 60,
       array(select '"' || repeat(chr(97 + i % 26), 240) || '"' from generate_series(1, 254)), now(), now()
     from domains, generate_series(1, 500) as i where name = :name`,
    { name },
  )
  await db.end()
}
