import { useMemo, useState } from 'preact/hooks'
import { counted } from '../model/rrset.ts'
import type { Row } from '../model/rows.ts'
import { ttlProblem } from '../model/ttl.ts'
import { zoneLines } from '../model/zone-lines.ts'
import { Copy } from '../parts/copy.tsx'

interface SelectionProps {
  domain: string
  rows: Row[]
  minimumTtl: number
  /** Whether the token may write anything in the domain. */
  mayEdit: boolean
  onTtl: (ttl: number) => void
  onDelete: () => void
  onClear: () => void
}

/** What can be done with the selected rows. */
export function Selection({ domain, rows, minimumTtl, mayEdit, onTtl, onDelete, onClear }: SelectionProps) {
  const [ttl, setTtl] = useState('')
  const lines = useMemo(
    () =>
      zoneLines(
        domain,
        rows.map(({ subname, type, state }) => ({ subname, type, ...state })),
      ),
    [rows],
  )
  const problem = ttl === '' ? undefined : ttlProblem(ttl, minimumTtl)
  return (
    <form
      class="bar"
      aria-label="Selected rows"
      onSubmit={(event) => {
        event.preventDefault()
        if (ttl !== '' && problem === undefined) onTtl(Number(ttl))
      }}
    >
      <span role="status">{counted(rows.length, 'row')} selected</span>
      <label hidden={!mayEdit}>
        TTL{' '}
        <input
          class="number"
          inputMode="numeric"
          value={ttl}
          aria-invalid={problem !== undefined}
          aria-describedby="selection-problem"
          onInput={(event) => {
            setTtl(event.currentTarget.value)
          }}
        />
      </label>
      <button class="small" hidden={!mayEdit}>
        Set the TTL
      </button>
      <button type="button" class="small" hidden={!mayEdit} onClick={onDelete}>
        Delete
      </button>
      <Copy text={lines} what="as zone file lines" />
      <button type="button" class="small" onClick={onClear}>
        Select none
      </button>
      <span id="selection-problem" class="problem">
        {problem}
      </span>
    </form>
  )
}
