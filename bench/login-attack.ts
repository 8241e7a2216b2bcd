import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { resident } from '../test/support/servers/resident.ts'
import { percentile, state } from './support/measure.ts'
import type { Setup } from './support/setup.ts'

// How password guessing affects other clients: from one address, and from a new address for each request.

const RATE = 200
const SECONDS = 10

export const loginAttackSettings = {
  LOG_LEVEL: 'warn',
  THROTTLE: 'on',
  THROTTLE_RATES: 'dns_api_cheap=100000/min; user=1000000/d',
  TRUSTED_PROXIES: '127.0.0.1',
}

export async function loginAttack(setup: Setup): Promise<void> {
  const normal = await readFor(setup)
  state('GET of the domains, p99', `${percentile(normal, 0.99).toFixed(1)} ms`)
  for (const [what, address] of [
    ['from one address', () => '192.0.2.1'],
    ['from many addresses', (i: number) => `2001:db8:${(i >> 8).toString(16)}:${(i & 255).toString(16)}::1`],
  ] as const) {
    const before = resident(setup.pid, 'VmRSS')
    const [statuses, during] = await Promise.all([attack(setup, address), readFor(setup)])
    const counts = [...statuses].map(([status, count]) => `${status}: ${count}`).join(', ')
    state(`${RATE} wrong logins per second, ${what}`, counts)
    state('  GET of the domains meanwhile, p99', `${percentile(during, 0.99).toFixed(1)} ms`)
    state('  the process grows by', `${Math.round((resident(setup.pid, 'VmRSS') - before) / 1024)} MiB`)
  }
}

/** Sends wrong logins at a steady rate, without waiting for responses; returns how often each status occurred. */
async function attack({ url }: Setup, address: (i: number) => string): Promise<Map<number, number>> {
  const pool = new Pool(url, { connections: 64, pipelining: 1 })
  const statuses = new Map<number, number>()
  const tries: Promise<void>[] = []
  const start = performance.now()
  for (let i = 0; i < RATE * SECONDS; i++) {
    await sleep(Math.max(0, start + (i * 1000) / RATE - performance.now()))
    const request = pool.request({
      method: 'POST',
      path: '/api/v1/auth/login/',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address(i) },
      body: JSON.stringify({ email: 'nobody@absent.test', password: `guess ${i}` }),
    })
    tries.push(
      request.then(async ({ statusCode, body }) => {
        statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
        await body.dump()
      }),
    )
  }
  await Promise.all(tries)
  await pool.close()
  return statuses
}

/** The times of consecutive reads, ascending, for as long as an attack lasts. */
async function readFor({ api }: Setup): Promise<number[]> {
  const times: number[] = []
  const end = performance.now() + SECONDS * 1000
  while (performance.now() < end) {
    const start = performance.now()
    await api('GET', '/domains/')
    times.push(performance.now() - start)
    await sleep(5)
  }
  return times.sort((a, b) => a - b)
}
