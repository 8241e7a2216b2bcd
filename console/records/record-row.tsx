import { Sign } from '../rrsets/difference.tsx'
import { type Row, shownLines, titleOf, wordFor } from '../rrsets/rows.ts'
import { shownName, type State } from '../rrsets/rrset.ts'
import { ttlWords } from '../rrsets/ttl.ts'
import { TypeBadge } from '../rrsets/type-badge.tsx'
import type { Collision } from './draft.ts'
import { SHOWN_RECORDS } from './heights.ts'

/** More characters of a record are not visible in any window. */
const MOST = 400

interface RowProps {
  row: Row
  isActive: boolean
  /** Whether the name stands in the row above. */
  isRepeating: boolean
  isSelected: boolean
  mayEdit: boolean
  problems: string[]
  collision: Collision | undefined
  /** @param isRange whether the rows between are meant, too */
  onSelect: (isSelected: boolean, isRange: boolean) => void
  onEdit: () => void
  /** Stages the deletion. */
  onDelete: () => void
  /** Discards the staged edit. */
  onDiscard: () => void
  /** Keeps the staged edit, although somebody else has changed the RRset. */
  onKeep: () => void
}

/** The cells of a row. Its name is the button that opens it. */
export function RecordRow({ row, isActive, isRepeating, isSelected, mayEdit, problems, collision, ...on }: RowProps) {
  const { type, state, edit } = row
  const title = titleOf(row)
  const word = edit && wordFor(edit)
  const formerTtl = edit?.after && edit.base && edit.base.ttl !== state.ttl ? edit.base.ttl : undefined
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
          <button
            class={isRepeating ? 'plain same' : 'plain'}
            data-open
            tabIndex={tabIndex}
            aria-label={`Edit ${title}`}
            onClick={on.onEdit}
          >
            {shownName(row.subname)}
          </button>
          {word !== undefined && <span class="word">{WORDS[word]}</span>}
        </span>
        <span role="cell" class="type">
          <TypeBadge type={type} />
        </span>
        <span role="cell" class="contents">
          <Records row={row} />
        </span>
        <span role="cell" class="ttl" title={`${state.ttl} seconds`}>
          {formerTtl !== undefined && (
            <>
              <s>
                <span class="unseen">removed: </span>
                {ttlWords(formerTtl)}
              </s>{' '}
            </>
          )}
          {ttlWords(state.ttl)}
        </span>
        <span role="cell" class="acts">
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
          {mayEdit && edit === undefined && (
            <span class="on-hover">
              <button class="small" tabIndex={-1} aria-hidden="true" onClick={on.onEdit}>
                Edit
              </button>{' '}
              <button class="small" tabIndex={tabIndex} aria-label={`Delete ${title}`} onClick={on.onDelete}>
                Delete
              </button>
            </span>
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

/** What a staged row is, in a word. */
const WORDS = { add: 'new', change: 'edited', delete: 'removed' }

/** The types whose records begin with numbers or words about what follows: how many fields these are. */
const PARAMETERS: Record<string, number> = {
  MX: 1,
  SRV: 3,
  HTTPS: 1,
  SVCB: 1,
  CAA: 2,
  URI: 2,
  KX: 1,
  AFSDB: 1,
  TLSA: 3,
}

function Records({ row }: { row: Row }) {
  const lines = shownLines(row, SHOWN_RECORDS)
  const isEdited = lines.some(({ verb }) => verb !== 'kept')
  const more = Math.max(lines.length - SHOWN_RECORDS, 0)
  return (
    <span class="texts mono">
      {lines.slice(0, SHOWN_RECORDS).map(({ record, verb }) => (
        <span
          key={record}
          class={isEdited ? verb : undefined}
          title={record.length > MOST ? `${record.length} characters` : undefined}
        >
          {isEdited && <Sign verb={verb} />}
          <Content type={row.type} record={record} />
        </span>
      ))}
      {more > 0 && <span class="quiet">and {more} more</span>}
    </span>
  )
}

/** A record, whose parameters are quieter than its target. */
function Content({ type, record }: { type: string; record: string }) {
  const fields = record.split(' ')
  const parameters = fields.slice(0, PARAMETERS[type] ?? 0).join(' ')
  return (
    <>
      {parameters !== '' && <i>{parameters}</i>}
      {record.slice(parameters.length, MOST)}
    </>
  )
}

function Version({ state }: { state: State | null }) {
  if (state === null) return <>deleted</>
  return (
    <>
      TTL {ttlWords(state.ttl)}
      {state.records.map((record) => (
        <div key={record}>{record.slice(0, MOST)}</div>
      ))}
    </>
  )
}
