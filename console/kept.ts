import { useState } from 'preact/hooks'

/** What this tab keeps under a key; undefined if nothing. */
export function read(key: string): unknown {
  return JSON.parse(sessionStorage.getItem(key) ?? 'null') ?? undefined
}

/** Keeps a value in this tab until somebody signs out or closes it; undefined: keeps nothing. */
export function keep(key: string, value: unknown): void {
  // If the browser refuses the new value, the former one is outdated.
  sessionStorage.removeItem(key)
  if (value !== undefined) sessionStorage.setItem(key, JSON.stringify(value))
}

const DRAFT = 'zoneplane draft'

/** The key of what somebody has not applied yet: it belongs to the account, so that no other one gets it. */
export function draftKey(account: string, kind: 'edits' | 'zone file' | 'additions' | 'form', domain: string): string {
  return `${DRAFT} ${account} ${kind} ${domain}`
}

/** What follows this prefix in the keys that have it. */
export function keptBehind(prefix: string): string[] {
  return Object.keys(sessionStorage).flatMap((key) => (key.startsWith(prefix) ? key.slice(prefix.length) : []))
}

/** Whether something for an account is not applied yet. */
export function hasDrafts(account: string): boolean {
  return keptBehind(`${DRAFT} ${account} `).length > 0
}

/** A state that survives a reload of the page, and the end of the session in this tab. Undefined: there is none. */
export function useKept<T>(key: string): [T | undefined, (value: T | undefined) => void] {
  const [value, setValue] = useState(() => read(key) as T | undefined)
  return [
    value,
    (next) => {
      setValue(() => next)
      try {
        keep(key, next)
      } catch {
        // The browser keeps no more than about 5 million characters: then it is in this page alone.
      }
    },
  ]
}
