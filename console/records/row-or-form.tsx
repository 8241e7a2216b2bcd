import { useState } from 'preact/hooks'
import { editOf, type Row, titleOf } from '../model/rows.ts'
import type { State } from '../model/rrset.ts'
import { RecordRow } from './record-row.tsx'
import { RRsetForm } from './rrset-form.tsx'
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
  return <RowForm domain={domain} row={row} records={records} onReview={onReview} />
}

/** The form that edits a row. Its edit is one of what the row was when it was opened, whatever comes meanwhile. */
function RowForm({ domain, row, records, onReview }: RowOrFormProps) {
  const { key, subname, type, state } = row
  const [base] = useState(() => editOf(row, null).base)
  const stage = (after: State | null) => {
    records.stage([{ subname, type, base, after }])
    records.setOpened(key, false)
  }
  return (
    <div role="cell">
      <RRsetForm
        label={`Edit ${titleOf(row)}`}
        domain={domain}
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
