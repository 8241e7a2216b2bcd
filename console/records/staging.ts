import { useState } from 'preact/hooks'
import type { Edit, Edits } from '../model/draft.ts'

/** The staged edits of a domain, which survive a reload of the page and the end of the session in this tab. */
export function useStaged(domain: string): [Edits, (edits: Edits) => void] {
  const key = `zoneplane edits of ${domain}`
  const [edits, setEdits] = useState<Edits>(
    () => new Map(JSON.parse(sessionStorage.getItem(key) ?? '[]') as [string, Edit][]),
  )
  return [
    edits,
    (next) => {
      if (next.size === 0) sessionStorage.removeItem(key)
      else sessionStorage.setItem(key, JSON.stringify([...next]))
      setEdits(next)
    },
  ]
}
