import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Failure } from '../kit/loading.tsx'
import { Add, type Adding, FIRST } from '../records/add.tsx'
import { Applied } from '../records/applied.tsx'
import { Hints } from '../records/hints.tsx'
import { keyboard, Keys } from '../records/keys.tsx'
import { Publish } from '../records/publish.tsx'
import { RowOrForm } from '../records/row-or-form.tsx'
import { Selection } from '../records/selection.tsx'
import { typedForms } from '../records/staging.ts'
import { Table } from '../records/table.tsx'
import { TemplateDialog } from '../records/template-dialog.tsx'
import { Tray } from '../records/tray.tsx'
import { useKeys } from '../records/use-keys.ts'
import { useRecords } from '../records/use-records.ts'
import { location } from '../router.ts'
import { editOf } from '../rrsets/rows.ts'
import { counted, rrsetKey } from '../rrsets/rrset.ts'
import { usualTtl } from '../rrsets/ttl.ts'

/** How many rows the keys of a page go up or down. */
const PAGE = 10

/** The records of a domain: a table of what there is and what is staged, and the way from there to the nameservers. */
export function RecordsPage({ name }: { name: string }) {
  const records = useRecords(name)
  const { zone, edits, collisions, problems, visible, rows } = records
  const { mayEdit } = records
  /** The number of the form for new records, and what it begins with; undefined: there is none. */
  const [adding, setAdding] = useState<Adding | undefined>(() =>
    location.value.query.has('add') || typedForms(name).includes('') ? FIRST : undefined,
  )
  const [isChoosing, setChoosing] = useState(false)
  const [isReviewing, setReviewing] = useState(false)
  const [isOvertaken, setOvertaken] = useState(false)
  const [problem, setProblem] = useState('')
  const [version, setVersion] = useState<number>()
  const search = useRef<HTMLInputElement>(null)
  const isStaged = edits.size > 0
  /** Then the bar of the selection takes the place of messages. */
  const isSelecting = records.selected.length > 0
  useEffect(() => {
    // What was applied before is in the history.
    if (isStaged) setVersion(undefined)
  }, [isStaged])

  /** The forms that the review has had saved; undefined: it is not wanted. */
  const [saving, setSaving] = useState<ReadonlySet<Element>>()
  const review = () => {
    setOvertaken(false)
    setProblem('')
    setSaving(new Set())
  }
  useEffect(() => {
    if (saving === undefined) return
    // One after the other, because each is staged beside those before. One with a mistake stays, and takes the focus.
    const form = document.querySelector<HTMLFormElement>('.rrset-form')
    if (form === null) setReviewing(true)
    if (form === null || saving.has(form)) setSaving(undefined)
    else {
      form.requestSubmit()
      setSaving(new Set([...saving, form]))
    }
  }, [saving])
  const closeReview = () => {
    setReviewing(false)
    records.focusRow(records.active)
  }
  /** Goes to a row, whatever is filtered. */
  const show = (key: string) => {
    records.setFilter('')
    records.focusRow(key)
  }

  useKeys((event) => {
    const target = event.target as Element
    const isTyping = target.matches('input:not([type=checkbox]), textarea, select')
    if (event.key === 'Enter' && event.ctrlKey) review()
    else if (event.ctrlKey || event.metaKey || event.altKey) return false
    else if (
      event.key === 'ArrowDown' &&
      target.closest('form') === null &&
      !event.shiftKey &&
      records.active !== undefined
    )
      records.focusRow(records.active)
    else if (isTyping || !keyboard.hasLetters) return false
    else if (event.key === '/') search.current!.focus()
    else if (event.key === 'n' && mayEdit) setAdding(adding ?? FIRST)
    else return false
    return true
  })

  const onRowKey = (event: KeyboardEvent) => {
    if ((event.target as Element).closest('form') !== null || event.ctrlKey || event.metaKey || event.altKey) return
    const at = visible.findIndex(({ key }) => key === records.active)
    const row = visible[at]
    const last = visible.length - 1
    const moves: Record<string, number> = {
      ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + PAGE, PageUp: at - PAGE, Home: 0, End: last,
    } // prettier-ignore
    const to = moves[event.key]
    if (to !== undefined) records.focusRow(visible[Math.min(last, Math.max(0, to))]?.key)
    else if (event.key === 'e' && keyboard.hasLetters && row !== undefined) records.setOpened(row.key, true)
    else if (event.key === 'Delete' && row !== undefined && mayEdit) records.change([row], () => null)
    else return
    event.preventDefault()
  }

  const ttl = useMemo(() => usualTtl(zone.rrsets.values(), zone.minimumTtl), [zone.rrsets, zone.minimumTtl])
  // What is typed but not staged would be missing in the review.
  const isTyping = adding !== undefined || rows.some(({ key }) => records.open.has(key))
  const isSound = zone.tag !== undefined && collisions.size === 0
  const canReview = isSound && !isTyping
  useEffect(() => {
    if (!canReview) setReviewing(false)
  }, [canReview, isReviewing])
  return (
    <>
      <div class="tools">
        <input
          ref={search}
          type="search"
          aria-label="Filter"
          placeholder="Filter: mx  type:a  name:www  192.0.2.  ttl<300"
          value={records.filter}
          onInput={(event) => {
            records.setFilter(event.currentTarget.value)
          }}
        />
        <span class="quiet" role="status">
          {!zone.isWhole
            ? rows.length > 0
              ? `${counted(rows.length, 'record set')} so far`
              : zone.problem === undefined && 'Loading…'
            : visible.length < rows.length
              ? `${visible.length.toLocaleString('en')} of ${counted(rows.length, 'record set')}`
              : counted(rows.length, 'record set')}
        </span>
        <span class="rest" hidden={!mayEdit}>
          <button
            onClick={() => {
              setChoosing(true)
            }}
          >
            Templates
          </button>
          <button
            class={adding === undefined ? 'main' : undefined}
            onClick={() => {
              setAdding(adding ?? FIRST)
            }}
          >
            Add record <kbd aria-hidden="true">n</kbd>
          </button>
        </span>
      </div>
      {zone.isWhole && <Hints domain={name} rows={rows} onGo={show} />}
      {zone.problem !== undefined && (
        <Failure
          problem={zone.problem}
          again={() => {
            zone.reload()
          }}
        />
      )}
      {location.value.query.has('undo') && edits.size > 0 && (
        <p class="note">The undo is staged. Discard the changes that shall not be undone.</p>
      )}
      {isOvertaken && (
        <p class="alert" role="alert">
          {name} has changed meanwhile. Your changes are kept: review them again.
        </p>
      )}
      {problem && (
        <p class="alert" role="alert">
          Not written: {problem}
        </p>
      )}
      {collisions.size > 0 && (
        <p class="note" role="status">
          {counted(collisions.size, 'change')} of yours collide with newer ones: choose in the table.
        </p>
      )}
      {adding !== undefined && (
        <Add
          key={adding.number}
          domain={name}
          place={adding.place}
          ttl={ttl}
          minimumTtl={zone.minimumTtl}
          rows={records.byKey}
          onStage={(place, state, next) => {
            const row = records.byKey.get(rrsetKey(place))
            records.stage([row === undefined ? { ...place, base: null, after: state } : editOf(row, state)])
            setAdding(next === 'another' ? { number: adding.number + 1 } : undefined)
            if (next === 'another') return
            records.focusRow(rrsetKey(place))
            if (next === 'review') review()
          }}
          onEdit={(key) => {
            setAdding(undefined)
            records.setOpened(key, true)
          }}
          onCancel={() => {
            setAdding(undefined)
            records.focusRow(records.active)
          }}
        />
      )}
      {mayEdit && zone.isWhole && rows.every(({ subname, type }) => subname === '' && type === 'NS') && (
        <p>
          {rows.length === 0 ? 'No records.' : 'Only the nameservers so far.'} Add a record, or{' '}
          <a href={`domains/${name}/zonefile`}>import a zone file</a>.
        </p>
      )}
      {visible.length === 0 && rows.length > 0 && <p role="status">No record matches “{records.filter}”.</p>}
      {visible.length > 0 && (
        <Table
          rows={visible}
          active={records.active}
          isFlexible={records.isFlexible}
          isEverySelected={records.selected.length === visible.length}
          onSelectAll={(isSelected) => {
            records.setSelected(new Set(isSelected ? visible.map(({ key }) => key) : []))
          }}
          onActive={records.setActive}
          onKeyDown={onRowKey}
        >
          {(row) => <RowOrForm domain={name} row={row} records={records} onReview={review} />}
        </Table>
      )}
      <Keys />
      <div class="foot">
        {isSelecting && (
          <Selection
            domain={name}
            rows={records.selected}
            minimumTtl={zone.minimumTtl}
            mayEdit={mayEdit}
            onStage={(after) => records.change(records.selected, after)}
            onDelete={() => {
              records.change(records.selected, () => null)
            }}
            onClear={() => {
              records.setSelected(new Set())
              records.focusRow(records.active)
            }}
          />
        )}
        {edits.size > 0 && (
          <Tray domain={name} edits={edits} refused={problems.size}>
            <button onClick={records.discard}>Discard all</button>
            <button class="main" disabled={!isSound} onClick={review}>
              Review <kbd aria-hidden="true">Ctrl ↵</kbd>
            </button>
          </Tray>
        )}
        {records.discarded.size > 0 && !isSelecting && (
          <div class="bar">
            <span role="status">Discarded {counted(records.discarded.size, 'change')}.</span>
            <button onClick={records.bringBack}>Bring back</button>
          </div>
        )}
        {version !== undefined && !isSelecting && (
          <Applied
            key={version}
            name={name}
            version={version}
            onUndone={(undone) => {
              setVersion(undone)
              zone.reload()
            }}
            onDismiss={() => {
              setVersion(undefined)
              records.focusRow(records.active)
            }}
          />
        )}
      </div>
      {isChoosing && (
        <TemplateDialog
          domain={name}
          ttl={ttl}
          rows={records.byKey}
          onStage={(staged) => {
            setChoosing(false)
            records.stage(staged)
            records.focusRow(rrsetKey(staged[0]!))
          }}
          onClose={() => {
            setChoosing(false)
          }}
        />
      )}
      {isReviewing && canReview && edits.size > 0 && (
        <Publish
          domain={name}
          edits={edits}
          rrsets={zone.rrsets}
          tag={zone.tag!}
          onRefused={(refused) => {
            records.setProblems(refused)
            setReviewing(false)
            records.focusRow([...refused.keys()][0])
          }}
          onStale={() => {
            setOvertaken(true)
            closeReview()
            zone.reload()
          }}
          onApplied={(published, failed) => {
            setVersion(published)
            setProblem(failed)
            records.settle()
            closeReview()
          }}
          onClose={closeReview}
          onAdd={(place) => {
            setReviewing(false)
            setAdding({ number: 1, place })
          }}
        />
      )}
    </>
  )
}
