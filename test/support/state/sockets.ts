import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Counts the open UDP sockets of this process, also those that do not keep it running. */
export function udpSockets(): number {
  const isUdp = new Set(['udp', 'udp6'].flatMap(inodes))
  return readdirSync('/proc/self/fd').filter((fd) => isUdp.has(targetOf(fd))).length
}

/** The sockets of a table of the kernel, as the links of file descriptors name them. */
function inodes(table: string): string[] {
  const lines = readFileSync(`/proc/self/net/${table}`, 'utf8').trim().split('\n').slice(1)
  return lines.map((line) => `socket:[${line.trim().split(/\s+/)[9]}]`)
}

function targetOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    // Closed meanwhile.
    return ''
  }
}
