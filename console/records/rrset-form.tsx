import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { TYPES } from '../../src/dns/types.ts'
import { bearer, me } from '../api/me.ts'
import { type Entry, entryOf, fits, isBlank, judge, retyped, wholeProblems } from '../rrsets/entry.ts'
import { FIELDS } from '../rrsets/fields.ts'
import { titleOf } from '../rrsets/rows.ts'
import { counted, type Place, type State } from '../rrsets/rrset.ts'
import { ttlProblem, ttlWords, typedTtl, USUAL_TTLS } from '../rrsets/ttl.ts'
import { forbids, mayWrite } from '../tokens/may-write.ts'
import { EntryInputs } from './entry-inputs.tsx'

/** What follows when something is staged: the review, or a form for another new record. */
export type Next = 'review' | 'another' | undefined

/** What was typed in a form. */
export interface Typed {
  ttl: string
  /** By type: what does not fit another one comes back with its own. The last one was typed last. */
  entries: [type: string, entries: Entry[]][]
}

interface RRsetFormProps {
  domain: string
  /** What was typed; undefined: nothing yet. */
  typed: Typed | undefined
  /** Called with what is typed; undefined: it is staged, or given up. */
  onTyped: (typed: Typed | undefined) => void
  /** The place; undefined while it is not known, so that nothing can be staged. */
  place: Place | undefined
  type: string
  /** What the inputs begin with. */
  initial: State
  /** The TTL that need not be checked, since the RRset has it. */
  presentTtl?: number
  minimumTtl: number
  /** The TTL that most RRsets have, if it is to be said. */
  usualTtl?: number | undefined
  /** The problems that the service has found. */
  problems?: string[]
  /** Says what the form is for. */
  label: string
  /** What is before the TTL. */
  children: ComponentChildren
  /** What is asked or said about the inputs before the records. */
  below?: ComponentChildren
  /** Whether the form is for new records, which can be staged one after another. */
  isNew?: boolean
  onStage: (state: State, next: Next) => void
  onDelete?: () => void
  onCancel: () => void
  /** Called to bring back the type that has what does not fit the present one. */
  onType?: (type: string) => void
  /** Called when staging was tried. */
  onAttempt?: () => void
}

/** Edits the TTL and the records of an RRset. What is typed is checked at once, and staged only if nothing is wrong. */
export function RRsetForm(props: RRsetFormProps) {
  const { domain, place, type, initial, presentTtl, minimumTtl, problems = [], children, below } = props
  const [beginning] = useState<Typed>(() => ({
    ttl: String(initial.ttl),
    entries: [[type, initial.records.map((record) => entryOf(type, record))]],
  }))
  const { typed = beginning, onTyped } = props
  const { ttl } = typed
  /** How often staging was tried in vain. */
  const [attempts, setAttempts] = useState(0)
  const cancel = () => {
    onTyped(undefined)
    props.onCancel()
  }
  /** How many values were added. */
  const [added, setAdded] = useState(0)
  const form = useRef<HTMLFormElement>(null)
  const ttlId = useId()
  // With the same ids until something changes.
  const entries = useMemo(
    () => new Map(typed.entries).get(type) ?? retyped(typed.entries.at(-1)![1], type, domain),
    [typed.entries, type],
  )
  const setEntries = (next: Entry[]) => {
    onTyped({ ...typed, entries: [...typed.entries.filter(([each]) => each !== type), [type, next]] })
  }
  const focus = (selector: string) => {
    form.current!.querySelector<HTMLElement>(selector)?.focus()
  }
  useLayoutEffect(() => {
    const entry = added > 0 ? '.entry:last-of-type' : '.entry'
    focus(place === undefined && added === 0 ? 'input' : `${entry} :is(input, textarea)`)
  }, [added])
  useLayoutEffect(() => {
    if (attempts > 0) focus('[aria-invalid=true], .obstacle button')
  }, [attempts])
  const judgements = entries.map((entry) => judge(entry, domain))
  const whole = place && wholeProblems(place, domain, judgements)
  const seconds = typedTtl(ttl)
  const wrongTtl = seconds === presentTtl ? undefined : ttlProblem(ttl, minimumTtl)
  const change = (id: number, next?: Entry) => {
    setEntries(entries.flatMap((entry) => (entry.id === id ? (next ?? []) : entry)))
  }
  const stage = (next?: Next) => {
    if (whole?.length === 0 && wrongTtl === undefined) {
      const records = judgements.map(({ rdata }) => rdata!.text)
      onTyped(undefined)
      props.onStage({ ttl: seconds, records }, next)
    } else {
      setAttempts(attempts + 1)
      props.onAttempt?.()
    }
  }
  const isInFields = entries.some(({ values }) => values !== undefined)
  return (
    <form
      ref={form}
      class="rrset-form"
      aria-label={props.label}
      // The service and the form itself say what is wrong.
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        stage()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') cancel()
        else if (event.key === 'Enter' && event.ctrlKey) stage('review')
        else return
        event.preventDefault()
        event.stopPropagation()
      }}
    >
      {problems.map((text) => (
        <p key={text} class="problem">
          {text}
        </p>
      ))}
      <div class="entry-inputs">
        {children}
        <div class="input ttl">
          <label for={ttlId}>TTL</label>
          <input
            id={ttlId}
            list={`${ttlId}-usual`}
            value={ttl}
            aria-invalid={wrongTtl !== undefined}
            aria-describedby={`${ttlId}-hint ${ttlId}-problem`}
            onInput={(event) => {
              onTyped({ ...typed, ttl: event.currentTarget.value })
            }}
          />
          <datalist id={`${ttlId}-usual`}>
            {USUAL_TTLS.filter((usual) => usual >= minimumTtl).map((usual) => (
              <option key={usual} value={usual}>
                {ttlWords(usual)}
              </option>
            ))}
          </datalist>
          <span class="quiet" id={`${ttlId}-hint`}>
            {Number.isNaN(seconds) ? 'Seconds, 5m, 1h, 1d' : ttlWords(seconds)}
            {seconds === props.usualTtl && ', as most records here'}
          </span>
        </div>
      </div>
      {below}
      {place !== undefined && !mayWrite(me.value!.policies, { domain, ...place }).may && (
        <p class="note">{forbids(bearer(), place)}</p>
      )}
      <p class="problem" id={`${ttlId}-problem`}>
        {wrongTtl !== undefined && `TTL: ${wrongTtl}`}
      </p>
      {entries.map((entry, i) => (
        <EntryInputs
          key={entry.id}
          domain={domain}
          position={i + 1}
          entry={entry}
          judgement={judgements[i]!}
          isJudged={attempts > 0 || !isBlank(entry)}
          onChange={(next) => {
            change(entry.id, next)
          }}
          onRemove={() => {
            change(entry.id)
          }}
        />
      ))}
      {typed.entries.map(([former, others]) => {
        const lost = others.filter((entry) => !isBlank(entry) && !fits(entry, type, domain)).length
        return (
          former !== type &&
          lost > 0 && (
            <p key={former}>
              <button
                type="button"
                class="small"
                onClick={() => {
                  props.onType?.(former)
                }}
              >
                Bring back {counted(lost, 'value')} of {former}
              </button>
            </p>
          )
        )
      })}
      {!(TYPES.get(type)!.single === true && entries.length > 0) && (
        <p>
          <button
            type="button"
            class="small"
            onClick={() => {
              setEntries([...entries, entryOf(type, '')])
              setAdded(added + 1)
            }}
          >
            Add value
          </button>
        </p>
      )}
      {whole?.map((text) => (
        <p key={text} class="problem" role="status">
          {text}
        </p>
      ))}
      <p class="buttons">
        <button class="main">Save</button>
        {props.isNew === true && (
          <button
            type="button"
            onClick={() => {
              stage('another')
            }}
          >
            Save and add another
          </button>
        )}
        {FIELDS[type] !== undefined && (
          <button
            type="button"
            onClick={() => {
              setEntries(
                entries.map((entry) => ({
                  ...entry,
                  values: isInFields ? undefined : entryOf(type, entry.text).values,
                })),
              )
            }}
          >
            {isInFields ? 'Edit as text' : 'Edit in fields'}
          </button>
        )}
        {props.onDelete !== undefined && (
          <button type="button" onClick={props.onDelete}>
            Delete {titleOf(place!)}
          </button>
        )}
        <button type="button" onClick={cancel}>
          Cancel
        </button>
      </p>
    </form>
  )
}
