import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { bearer } from '../api/me.ts'
import { useKept } from '../kept.ts'
import { editOf, type Row, titleOf } from '../rrsets/rows.ts'
import type { State } from '../rrsets/rrset.ts'
import { ttlWords } from '../rrsets/ttl.ts'
import { forbids } from '../tokens/may-write.ts'
import { RecordRow } from './record-row.tsx'
import { RRsetForm, type Typed } from './rrset-form.tsx'
import { formKey } from './staging.ts'
import type { useRecords } from './use-records.ts'

interface RowOrFormProps {
  domain: string
  row: Row
  records: ReturnType<typeof useRecords>
  /** Called when an edit is staged, and the review shall follow at once. */
  onReview: () => void
}

/** A row, or the form that edits it. */
export function RowOrForm({ domain, row, records, onReview }: RowOrFormProps) {
  const { key, edit } = row
  if (!records.open.has(key)) {
    return (
      <RecordRow
        row={row}
        isActive={key === records.active}
        isRepeating={records.repeating.has(key)}
        mayEdit={records.mayEdit}
        isSelected={records.selected.includes(row)}
        problems={records.problems.get(key) ?? []}
        collision={records.collisions.get(key)}
        onSelect={(isSelected, isRange) => {
          records.select(key, isSelected, isRange)
        }}
        onEdit={() => {
          records.setOpened(key, true)
        }}
        onDelete={() => {
          records.change([row], () => null)
        }}
        onDiscard={() => {
          records.discardOne(row)
        }}
        onKeep={() => {
          records.stage([{ ...edit!, base: records.collisions.get(key)!.theirs }])
        }}
      />
    )
  }
  if (!records.mayEdit)
    return (
      <Whole
        row={row}
        onClose={() => {
          records.setOpened(key, false)
        }}
      />
    )
  return <RowForm domain={domain} row={row} records={records} onReview={onReview} />
}

/** All values of a row that one may not change. */
function Whole({ row, onClose }: { row: Row; onClose: () => void }) {
  const button = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => {
    button.current!.focus()
  }, [])
  return (
    <div role="cell">
      <div class="rrset-form">
        <strong class="mono">{titleOf(row)}</strong> TTL {ttlWords(row.state.ttl)}
        <ul class="lines mono">
          {row.state.records.map((record) => (
            <li key={record}>{record}</li>
          ))}
        </ul>
        <p class="note">{forbids(bearer(), row)}</p>
        <button ref={button} onClick={onClose}>
          Close
        </button>
      </div>
    </div>
  )
}

/** The form that edits a row. Its edit is one of what the row was when it was opened, whatever comes meanwhile. */
function RowForm({ domain, row, records, onReview }: RowOrFormProps) {
  const { key, subname, type, state } = row
  const [opened] = useState(() => editOf(row, null).base)
  const [kept, setKept] = useKept<Typed & { base: State | null }>(formKey(domain, key))
  const base = kept === undefined ? opened : kept.base
  const stage = (after: State | null) => {
    records.stage([{ subname, type, base, after }])
    records.setOpened(key, false)
  }
  return (
    <div role="cell">
      <RRsetForm
        label={`Edit ${titleOf(row)}`}
        domain={domain}
        typed={kept}
        onTyped={(typed) => {
          setKept(typed && { ...typed, base })
        }}
        place={row}
        type={type}
        initial={state}
        presentTtl={base?.ttl}
        minimumTtl={records.zone.minimumTtl}
        problems={records.problems.get(key)}
        onStage={(after, next) => {
          stage(after)
          if (next === 'review') onReview()
        }}
        onDelete={() => {
          setKept(undefined)
          stage(null)
        }}
        onCancel={() => {
          records.setOpened(key, false)
        }}
      >
        <strong class="mono">{titleOf(row)}</strong>
      </RRsetForm>
    </div>
  )
}
