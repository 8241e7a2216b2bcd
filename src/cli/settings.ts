import { GROUPS, type Setting } from '../settings/settings.ts'

/** Formats all settings, with their defaults and meanings, for a terminal. */
export function settingsText(): string {
  const groups = Object.entries<Record<string, Setting<unknown>>>(GROUPS)
  return groups.map(([group, rows]) => `${group}\n\n${Object.values(rows).map(entry).join('\n')}`).join('\n')
}

function entry({ name, usual, meaning }: Setting<unknown>): string {
  return `  ${name} (default: ${usual})\n${meaning.replace(/(.{1,70})( |$)/g, '      $1\n')}`
}
