import { setTimeout as sleep } from 'node:timers/promises'
import { WAITS } from '../../src/nameserver/nameserver.ts'
import { REAL_CLOCK } from '../../src/nameserver/parents/pace.ts'
import { Parents } from '../../src/nameserver/parents/parents.ts'
import type { Endpoint } from '../../src/nameserver/wire/client.ts'
import type { Question } from '../../src/nameserver/wire/messages.ts'
import { answer } from '../../test/support/dns/simulated-parents.ts'

// Imported before the service. All parents are simulated, and a minute stands for an hour of what rollovers wait for.

const SPEED = 60

for (const wait of ['dnskeyTtl', 'dsMargin', 'parentPause'] as const) WAITS[wait] /= SPEED
Object.assign(REAL_CLOCK, {
  now: () => SPEED * performance.now(),
  sleep: (milliseconds: number) => sleep(milliseconds / SPEED),
})
Object.assign(Parents.prototype, {
  send: (endpoint: Endpoint, question: Question) => Promise.resolve(answer(endpoint, question)),
})
