import { useMemo, useState } from 'preact/hooks'
import { Copy } from '../kit/copy.tsx'
import type { Row } from '../rrsets/rows.ts'
import { counted, replaced, type State } from '../rrsets/rrset.ts'
import { ttlProblem, typedTtl } from '../rrsets/ttl.ts'
import { zoneLines } from '../rrsets/zone-lines.ts'

interface SelectionProps {
  domain: string
  rows: Row[]
  minimumTtl: number
  /** Whether the token may write anything in the domain. */
  mayEdit: boolean
  /** Stages what becomes of each; returns how many change. */
  onStage: (after: (state: State) => State) => number
  onDelete: () => void
  onClear: () => void
}

/** What can be done with the selected rows. */
export function Selection({ domain, rows, minimumTtl, mayEdit, onStage, onDelete, onClear }: SelectionProps) {
  const [typed, setTyped] = useState({ ttl: '', text: '', other: '' })
  const { ttl, text, other } = typed
  const [isChanging, setChanging] = useState(false)
  const [isNothing, setNothing] = useState(false)
  const lines = useMemo(
    () =>
      zoneLines(
        domain,
        rows.map(({ subname, type, state }) => ({ subname, type, ...state })),
      ),
    [rows],
  )
  const problem = ttl === '' ? undefined : ttlProblem(ttl, minimumTtl)
  const input = (name: 'ttl' | 'text' | 'other', label: string) => (
    <label>
      {label}{' '}
      <input
        class={name}
        placeholder={name === 'ttl' ? '5m, 1h' : undefined}
        value={typed[name]}
        aria-invalid={name === 'ttl' && problem !== undefined}
        aria-describedby={name === 'ttl' ? 'selection-problem' : undefined}
        onInput={(event) => {
          setTyped({ ...typed, [name]: event.currentTarget.value })
        }}
      />
    </label>
  )
  return (
    <form
      class="bar"
      aria-label="Selected rows"
      onSubmit={(event) => {
        event.preventDefault()
        if (problem !== undefined) return
        const count = onStage((state) => ({
          ttl: ttl === '' ? state.ttl : typedTtl(ttl),
          records:
            text === ''
              ? state.records
              : [...new Set(state.records.map((each) => replaced(each, text.trim(), other.trim())))],
        }))
        setNothing(count === 0)
      }}
    >
      <span role="status">{counted(rows.length, 'row')} selected</span>
      <button type="button" class="small" hidden={!mayEdit} onClick={onDelete}>
        Delete
      </button>
      <Copy text={lines} what="as zone file lines" />
      <button type="button" class="small" onClick={onClear}>
        Select none
      </button>
      <button
        type="button"
        class="small"
        hidden={!mayEdit}
        aria-expanded={isChanging}
        onClick={() => {
          setChanging(!isChanging)
        }}
      >
        Change
      </button>
      <p class="tools" hidden={!isChanging}>
        {input('ttl', 'TTL')} {input('text', 'Replace')} {input('other', 'with')}
        <button class="small" disabled={ttl + text === '' || (text === '') !== (other === '')}>
          Save
        </button>
      </p>
      <span id="selection-problem" class="problem">
        {problem ?? (isNothing && 'Nothing to change.')}
      </span>
    </form>
  )
}
