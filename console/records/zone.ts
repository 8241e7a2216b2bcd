import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Refused } from '../api/client.ts'
import { readDomain } from '../api/domains.ts'
import { allRRsets } from '../api/rrsets.ts'
import { useAsked } from '../kit/loading.tsx'
import type { RRset } from '../rrsets/rrset.ts'
import { applied } from '../rrsets/state.ts'
import { byPlace, type Edits, type RRsets } from './draft.ts'

/** The records of a domain, as far as they have come. */
export interface Zone {
  rrsets: RRsets
  /** Whether all have come at least once. */
  isWhole: boolean
  /** The domain's ETag, if `rrsets` are those of that state; undefined while they are loaded. */
  tag: string | undefined
  minimumTtl: number
  /** Whether the operator has suspended the domain, so that nobody can change it. */
  isSuspended: boolean
  problem: Refused | undefined
  /** Loads all again. @param edits that are known to be there now */
  reload: (edits?: Edits) => void
}

interface Read {
  rrsets: RRset[]
  tag: string
  minimumTtl: number
  isSuspended: boolean
}

const NONE: ReadonlyMap<string, never> = new Map<string, never>()

/** Loads the records of a domain, page by page. */
export function useZone(name: string): Zone {
  const [sofar, setSofar] = useState<RRset[]>([])
  const [known, setKnown] = useState<Edits>()
  const { value, problem, reload } = useAsked(() => read(name, setSofar), [name])
  useEffect(() => {
    setKnown(undefined)
  }, [value])
  const rrsets = useMemo(
    () => byPlace(value === undefined ? sofar : applied(value.rrsets, known?.values() ?? [])),
    [sofar, value, known],
  )
  return {
    rrsets,
    isWhole: value !== undefined,
    tag: known === undefined ? value?.tag : undefined,
    minimumTtl: value?.minimumTtl ?? 0,
    isSuspended: value?.isSuspended ?? false,
    problem,
    reload: (edits) => {
      setKnown((before) => edits ?? before ?? NONE)
      reload()
    },
  }
}

/** Reads the tag first: what changes while the pages come has another one, so that no write builds on it. */
async function read(name: string, onPages: (rrsets: RRset[]) => void): Promise<Read> {
  const domain = await readDomain(name)
  let shown = 0
  const rrsets = await allRRsets(name, (sofar) => {
    // To sort and draw every page of a large zone would take longer than to load it.
    if (sofar.length < 1.2 * shown) return
    shown = sofar.length
    onPages(sofar)
  })
  return { rrsets, ...domain }
}
