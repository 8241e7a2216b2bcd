import { relative } from '../../dns/names.ts'
import type { Config } from '../../settings/config.ts'

/** Returns the names of the signalling zones of our nameservers, without final dot (RFC 9615 §3; contract §15.11). */
export function signallingZones({ nameServers }: Pick<Config, 'nameServers'>): string[] {
  return nameServers.map((host) => `_signal.${relative(host)}`)
}
