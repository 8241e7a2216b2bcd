import { ConfigError, readConfig } from '../../src/settings/config.ts'
import type { Setting } from '../../src/settings/setting.ts'
import { GROUPS, SETTINGS } from '../../src/settings/settings.ts'

/** The settings of private servers, which a service with servers of its own does not need. */
export const privateSettings = [GROUPS['Private servers'], GROUPS.Tests]
  .flatMap((settings) => Object.values<Setting<unknown>>(settings))
  .map(({ name }) => name)

/** The names of all settings. */
export function settings(): Set<string> {
  return new Set(Object.values(SETTINGS).map(({ name }) => name))
}

/** The problems of an environment, as the operator sees them. */
export function problems(environment: NodeJS.ProcessEnv): string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message.split('\n')
  }
}
