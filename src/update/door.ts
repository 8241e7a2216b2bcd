import { randomUUID } from 'node:crypto'
import { HEADER, QR } from '../dns/wire/messages.ts'
import { Budget } from '../flow/budget.ts'
import { TURN_TIMEOUT } from '../limits.ts'
import { shownAddress } from '../service/throttling/callers.ts'
import type { System } from '../system.ts'
import { Exchange, type Peer, type Shared } from './exchange.ts'
import { Results } from './results.ts'

/** The messages of an account, and of all, that are carried out at the same time (contract §21.6). */
const UPDATES = { each: 32, all: 256 }

/** DNS UPDATE (contract §21): answers messages. */
export class UpdateDoor {
  readonly #system: System
  readonly #shared: Shared = { updates: new Budget(UPDATES), results: new Results() }

  constructor(system: System) {
    this.#system = system
  }

  /** Answers a message, unless it is none, or an answer itself. Never rejects because of what it contains. */
  async answer(octets: Buffer, peer: Peer): Promise<void> {
    if (octets.length < HEADER || (octets.readUInt16BE(2) & QR) !== 0) return
    const request = randomUUID()
    const log = this.#system.log.child({ request })
    const patience = { left: TURN_TIMEOUT, gone: peer.gone }
    const exchange = new Exchange({ ...this.#system, request, log, patience }, this.#shared, octets, peer)
    const start = performance.now()
    const { rcode, text } = await exchange.run()
    const { metrics } = this.#system
    metrics?.count('zoneplane_dns_messages_total', { kind: exchange.kind, rcode })
    metrics?.time('zoneplane_dns_message_duration_seconds', { kind: exchange.kind }, start)
    log.info('update', {
      address: shownAddress(this.#system.config, peer.address),
      rcode,
      ...exchange.found,
      ms: Math.round((performance.now() - start) * 1000) / 1000,
      ...(text !== undefined && { reason: text }),
    })
  }
}
