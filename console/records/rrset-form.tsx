import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { me } from '../api/me.ts'
import { entryOf, judge, retyped, wholeProblems, type Entry } from '../model/entry.ts'
import { FIELDS } from '../model/fields.ts'
import { mayWrite } from '../model/may-write.ts'
import type { Place, State } from '../model/rrset.ts'
import { titleOf } from '../model/rows.ts'
import { ttlProblem } from '../model/ttl.ts'
import { EntryInputs } from './entry-inputs.tsx'

interface RRsetFormProps {
  domain: string
  /** The place; undefined while it is not known, so that nothing can be staged. */
  place: Place | undefined
  type: string
  /** What the inputs begin with. */
  initial: State
  /** The TTL that need not be checked, since the RRset has it. */
  presentTtl?: number
  minimumTtl: number
  /** The problems that the service has found. */
  problems?: string[]
  /** Says what the form is for. */
  label: string
  /** What is before the TTL. */
  children: ComponentChildren
  /** What is asked or said about the inputs before the records. */
  below?: ComponentChildren
  /** Called when something is staged. @param isLast whether the review shall follow at once */
  onStage: (state: State, isLast: boolean) => void
  onDelete?: () => void
  onLeave: () => void
  /** Called when staging was tried without a place. */
  onAttempt?: () => void
}

/** Edits the TTL and the records of an RRset. What is typed is checked at once, and staged only if nothing is wrong. */
export function RRsetForm(props: RRsetFormProps) {
  const { domain, place, type, initial, presentTtl, minimumTtl, problems = [], children, below, onLeave } = props
  const [ttl, setTtl] = useState(String(initial.ttl))
  const [typed, setEntries] = useState(() => initial.records.map((record) => entryOf(type, record)))
  const [touched, setTouched] = useState<ReadonlySet<number>>(new Set())
  const [isAttempted, setAttempted] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const ttlId = useId()
  const entries = typed.map((entry) => retyped(entry, type))
  useLayoutEffect(() => {
    form.current!.querySelector<HTMLElement>(place === undefined ? 'input' : '.entry :is(input, textarea)')!.focus()
  }, [])
  const judgements = entries.map((entry) => judge(entry, domain))
  const whole = place && wholeProblems(place, domain, judgements)
  const wrongTtl = Number(ttl) === presentTtl ? undefined : ttlProblem(ttl, minimumTtl)
  const change = (id: number, next?: Entry) => {
    setEntries(entries.flatMap((entry) => (entry.id === id ? (next ?? []) : entry)))
    setTouched(new Set(touched).add(id))
  }
  const stage = (isLast = false) => {
    setAttempted(true)
    props.onAttempt?.()
    if (whole?.length === 0 && wrongTtl === undefined) {
      const records = judgements.map(({ rdata }) => rdata!.text)
      props.onStage({ ttl: Number(ttl), records }, isLast)
    } else form.current!.querySelector<HTMLElement>('[aria-invalid=true], .asking button')?.focus()
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
        if (event.key === 'Escape') onLeave()
        else if (event.key === 'Enter' && event.ctrlKey) stage(true)
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
            inputMode="numeric"
            value={ttl}
            aria-invalid={wrongTtl !== undefined}
            aria-describedby={`${ttlId}-problem`}
            onInput={(event) => {
              setTtl(event.currentTarget.value)
            }}
          />
        </div>
      </div>
      {below}
      {place !== undefined && !mayWrite(me.value!.policies, { domain, ...place }).may && (
        <p class="note">This token may not write {titleOf(place)}.</p>
      )}
      <p class="problem" id={`${ttlId}-problem`}>
        {wrongTtl !== undefined && `TTL: ${wrongTtl}`}
      </p>
      {entries.map((entry, i) => (
        <EntryInputs
          key={entry.id}
          position={i + 1}
          entry={entry}
          judgement={judgements[i]!}
          isJudged={isAttempted || touched.has(entry.id)}
          onChange={(next) => {
            change(entry.id, next)
          }}
          onRemove={() => {
            change(entry.id)
          }}
        />
      ))}
      {whole?.map((text) => (
        <p key={text} class="problem" role="status">
          {text}
        </p>
      ))}
      <p class="buttons">
        <button class="main">Stage</button>
        <button
          type="button"
          onClick={() => {
            setEntries([...entries, entryOf(type, '')])
          }}
        >
          Another record
        </button>
        {FIELDS[type] !== undefined && (
          <button
            type="button"
            onClick={() => {
              const next = isInFields
                ? entries.map((entry) => ({ ...entry, values: undefined }))
                : entries.map((entry) => ({ ...entry, values: entryOf(type, entry.text).values }))
              setEntries(next)
            }}
          >
            {isInFields ? 'Edit as text' : 'Edit in fields'}
          </button>
        )}
        {props.onDelete !== undefined && (
          <button type="button" onClick={props.onDelete}>
            Delete all of it
          </button>
        )}
        <button type="button" onClick={onLeave}>
          Leave
        </button>
      </p>
    </form>
  )
}
