import { GROUPS, type Setting, SETTINGS } from '../../src/settings/settings.ts'

/** The settings of private servers, which a service with servers of its own does not need. */
export const privateSettings = [GROUPS['Private servers'], GROUPS.Tests]
  .flatMap((settings) => Object.values<Setting<unknown>>(settings))
  .map(({ name }) => name)

/** The names of all settings. */
export function settings(): Set<string> {
  return new Set(Object.values(SETTINGS).map(({ name }) => name))
}
