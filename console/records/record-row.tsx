import type { Collision } from '../model/draft.ts'
import { shownName, type State } from '../model/rrset.ts'
import { titleOf, wordFor, type Row } from '../model/rows.ts'
import { SHOWN_RECORDS } from './heights.ts'

/** More characters of a record are not visible in any window. */
const MOST = 400

interface RowProps {
  row: Row
  isActive: boolean
  isSelected: boolean
  problems: string[]
  collision: Collision | undefined
  /** @param isRange whether the rows between are meant, too */
  onSelect: (isSelected: boolean, isRange: boolean) => void
  onEdit: () => void
  /** Discards the staged edit. */
  onDiscard: () => void
  /** Keeps the staged edit, although somebody else has changed the RRset. */
  onKeep: () => void
}

/** The cells of a row. Its name is the button that opens it. */
export function RecordRow({ row, isActive, isSelected, problems, collision, ...on }: RowProps) {
  const { type, state, edit } = row
  const title = titleOf(row)
  const word = edit && wordFor(edit)
  const tabIndex = isActive ? 0 : -1
  return (
    <>
      <div
        class={`cells ${word ?? ''}`}
        role="presentation"
        onClick={({ target }) => {
          const isControl = (target as Element).closest('button, input') !== null
          if (!isControl && getSelection()!.isCollapsed) on.onEdit()
        }}
      >
        <span role="cell" class="select">
          <input
            type="checkbox"
            aria-label={`Select ${title}`}
            tabIndex={tabIndex}
            checked={isSelected}
            // Shift would select texts.
            onMouseDown={(event) => {
              if (event.shiftKey) event.preventDefault()
            }}
            onClick={(event) => {
              on.onSelect(event.currentTarget.checked, event.shiftKey)
            }}
          />
        </span>
        <span role="rowheader" class="owner mono">
          {word !== undefined && <span class="word">to {word}</span>}
          <button class="plain" data-open tabIndex={tabIndex} aria-label={`Edit ${title}`} onClick={on.onEdit}>
            {shownName(row.subname)}
          </button>
        </span>
        <span role="cell" class="type">
          {type}
        </span>
        <span role="cell" class="ttl">
          {state.ttl}
        </span>
        <span role="cell" class="contents">
          <Records records={state.records} />
          {edit !== undefined && (
            <button
              class="small discard"
              tabIndex={tabIndex}
              aria-label={`Discard the change of ${title}`}
              onClick={on.onDiscard}
            >
              Discard
            </button>
          )}
        </span>
      </div>
      {problems.length > 0 && (
        <p role="cell" class="problem">
          {problems.join(' ')}
        </p>
      )}
      {collision !== undefined && (
        <div role="cell" class="collision">
          <p>{title} has changed meanwhile.</p>
          <dl>
            <dt>Now</dt>
            <dd class="mono">
              <Version state={collision.theirs} />
            </dd>
            <dt>Yours</dt>
            <dd class="mono">
              <Version state={collision.edit.after} />
            </dd>
          </dl>
          <p class="buttons">
            <button onClick={on.onDiscard}>Take what is there</button>
            <button onClick={on.onKeep}>Keep yours</button>
          </p>
        </div>
      )}
    </>
  )
}

function Records({ records }: { records: string[] }) {
  const shown = records.slice(0, SHOWN_RECORDS)
  const more = records.length - shown.length
  return (
    <span class="texts mono">
      {shown.map((record) => (
        <span key={record}>{record.slice(0, MOST)}</span>
      ))}
      {more > 0 && <span class="quiet">and {more} more</span>}
    </span>
  )
}

function Version({ state }: { state: State | null }) {
  if (state === null) return <>deleted</>
  return (
    <>
      TTL {state.ttl}
      {state.records.map((record) => (
        <div key={record}>{record.slice(0, MOST)}</div>
      ))}
    </>
  )
}
