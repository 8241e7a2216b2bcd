import { randomInt } from 'node:crypto'

const SYMBOLS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const LENGTH = 28

/** Generates a new token secret: 164 random bits (contract §5.2). */
export function generateSecret(): string {
  return Array.from({ length: LENGTH }, () => SYMBOLS[randomInt(SYMBOLS.length)]).join('')
}
