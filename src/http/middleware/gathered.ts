import { Transform, type TransformCallback } from 'node:stream'

/** Octets into which the small pieces of a body are gathered. */
const BODY_PIECE = 64 * 1024

/**
 * Copies what passes into larger pieces. A body may arrive octet by octet, and every piece that is kept costs a hundred
 * octets, and the buffer that it was read into.
 */
export class Gathered extends Transform {
  #piece = Buffer.allocUnsafe(512)
  #used = 0

  override _transform(chunk: Buffer, _: unknown, done: TransformCallback): void {
    if (this.#used + chunk.length > this.#piece.length) {
      this.#push()
      this.#piece = Buffer.allocUnsafe(Math.max(chunk.length, Math.min(2 * this.#piece.length, BODY_PIECE)))
    }
    this.#used += chunk.copy(this.#piece, this.#used)
    done()
  }

  override _flush(done: TransformCallback): void {
    this.#push()
    done()
  }

  #push(): void {
    if (this.#used > 0) this.push(this.#piece.subarray(0, this.#used))
    this.#used = 0
  }
}
