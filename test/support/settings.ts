import { readConfig } from '../../src/config.ts'

/** The settings of private servers, which a service with servers of its own does not need. */
export const privateSettings = [
  'CI_CONTROL',
  'DNS_HOST',
  'DNS_PORT',
  'DURABLE',
  'TRANSFER_ADDRESSES',
  'ZONEPLANE_DATA',
  'ZONEPLANE_INSTALL',
  'ZONEPLANE_SEED',
]

/** The names of all settings, which are the variables that `readConfig` reads. */
export function settings(): Set<string> {
  const names = new Set<string>()
  const environment = new Proxy<NodeJS.ProcessEnv>(
    {},
    {
      get(_, name) {
        names.add(String(name))
        return undefined
      },
    },
  )
  readConfig(environment)
  return names
}
