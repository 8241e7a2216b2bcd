import { callbackOf } from '../settings/config.ts'
import type { Setting } from '../settings/setting.ts'
import { GROUPS } from '../settings/settings.ts'

/** Formats all settings, with their defaults and meanings, for a terminal. @param publicUrl for the callback's address */
export function settingsText(publicUrl: string | undefined): string {
  const groups = Object.entries<Record<string, Setting<unknown>>>(GROUPS)
  const text = groups.map(([group, rows]) => `${group}\n\n${Object.values(rows).map(entry).join('\n')}`).join('\n')
  return publicUrl === undefined
    ? text
    : text.replace(callbackOf('PUBLIC_URL'), callbackOf(publicUrl.replace(/\/+$/, '')))
}

function entry({ name, isSecret, usual, meaning }: Setting<unknown>): string {
  const text = isSecret ? `${meaning}. Or ${name}_FILE names a file with it` : meaning
  return `  ${name} (default: ${usual})\n${text.replace(/(.{1,70})( |$)/g, '      $1\n')}`
}
