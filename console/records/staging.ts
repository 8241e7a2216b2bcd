import { useState } from 'preact/hooks'
import { staged, type Edit, type Edits } from '../model/draft.ts'

const keyFor = (domain: string) => `zoneplane edits of ${domain}`

function stored(domain: string): Edits {
  return new Map(JSON.parse(sessionStorage.getItem(keyFor(domain)) ?? '[]') as [string, Edit][])
}

function store(domain: string, edits: Edits): void {
  if (edits.size === 0) sessionStorage.removeItem(keyFor(domain))
  else sessionStorage.setItem(keyFor(domain), JSON.stringify([...edits]))
}

/** Stages edits of a domain whose records page is not shown. */
export function stageElsewhere(domain: string, edits: Edit[]): void {
  store(domain, edits.reduce(staged, stored(domain)))
}

/** The staged edits of a domain, which survive a reload of the page and the end of the session in this tab. */
export function useStaged(domain: string): [Edits, (edits: Edits) => void] {
  const [edits, setEdits] = useState(() => stored(domain))
  return [
    edits,
    (next) => {
      store(domain, next)
      setEdits(next)
    },
  ]
}
