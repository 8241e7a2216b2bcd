import { statfs } from 'node:fs/promises'

/** Octets: room for a hundred thousand domains more, and for the operator's time. */
const LOW = 2 ** 30
const INTERVAL = 60_000

/**
 * Warns, with the free octets, when the file system of a folder is getting full: a full one makes PowerDNS 4.7 abort
 * and Postgres stop. Warns again only after a time with enough room. It keeps no process running.
 */
export function watchDisk(folder: string, warn: (free: number) => void, low = LOW, interval = INTERVAL): void {
  let wasLow = false
  const look = async () => {
    const { bavail, bsize } = await statfs(folder)
    const isLow = bavail * bsize < low
    if (isLow && !wasLow) warn(bavail * bsize)
    wasLow = isLow
  }
  const lookAgain = () => {
    // A folder that cannot be asked has other troubles, which the servers report.
    look().catch(() => undefined)
  }
  lookAgain()
  setInterval(lookAgain, interval).unref()
}
