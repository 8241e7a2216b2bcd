import { Socket } from 'node:net'

/** Sends all the output of one tick as one packet, because each packet wakes Postgres up, which is expensive. */
export class GatheringSocket extends Socket {
  override uncork(): void {
    process.nextTick(() => {
      super.uncork()
    })
  }
}
