import { useId, useRef } from 'preact/hooks'
import { withText, withValue, type Entry, type Judgement } from '../model/entry.ts'
import { answered, FIELDS, type Field } from '../model/fields.ts'
import { Asking } from './asking.tsx'

interface EntryProps {
  /** From 1. */
  position: number
  entry: Entry
  judgement: Judgement
  /** Whether problems are shown: not before something was typed. */
  isJudged: boolean
  onChange: (entry: Entry) => void
  onRemove: () => void
}

/** The inputs of one record: its fields, or its text. */
export function EntryInputs({ position, entry, judgement, isJudged, onChange, onRemove }: EntryProps) {
  const group = useRef<HTMLFieldSetElement>(null)
  const problemId = useId()
  const { question, problem } = judgement
  const isWrong = isJudged && problem !== undefined
  const common = { isWrong, describedBy: isWrong ? problemId : undefined }
  return (
    <fieldset ref={group} class="entry">
      <legend class="unseen">Record {position}</legend>
      <div class="entry-inputs">
        {entry.values === undefined ? (
          <Input
            {...common}
            field={{ label: 'Record as text', kind: 'rest' }}
            value={entry.text}
            onText={(text) => {
              onChange(withText(entry, text))
            }}
          />
        ) : (
          FIELDS[entry.type]!.map((field, i) => (
            <Input
              key={field.label}
              {...common}
              field={field}
              value={entry.values![i]!}
              onText={(text) => {
                onChange(withValue(entry, i, text))
              }}
            />
          ))
        )}
        <button type="button" class="small" aria-label={`Remove record ${position}`} onClick={onRemove}>
          Remove
        </button>
      </div>
      {isWrong && (
        <p class="problem" id={problemId}>
          {problem}
        </p>
      )}
      {question !== undefined && (
        <Asking
          name={question.name}
          answers={question.answers}
          onAnswer={(answer) => {
            onChange(withText(entry, answered(entry.text, question, answer)))
            group.current!.querySelector<HTMLElement>('input, textarea')!.focus()
          }}
        />
      )}
    </fieldset>
  )
}

interface InputProps {
  field: Field
  value: string
  isWrong: boolean
  describedBy: string | undefined
  onText: (text: string) => void
}

function Input({ field: { label, kind }, value, isWrong, describedBy, onText }: InputProps) {
  const id = useId()
  const shared = {
    id,
    value,
    class: 'mono',
    autocapitalize: 'none' as const,
    spellcheck: false,
    'aria-invalid': isWrong,
    'aria-describedby': describedBy,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) => {
      onText(currentTarget.value)
    },
  }
  return (
    <div class={`input ${kind}`}>
      <label for={id}>{label}</label>
      {kind === 'texts' ? (
        <>
          <textarea {...shared} rows={Math.min(8, 1 + Math.floor(value.length / 80))} onKeyDown={submitOnEnter} />
          {value.includes('\n') && <p class="note">The text has line breaks.</p>}
        </>
      ) : (
        <input {...shared} inputMode={kind === 'number' ? 'numeric' : undefined} />
      )}
    </div>
  )
}

/** Enter stages, as in the other inputs; Shift and Enter break the line. */
function submitOnEnter(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || event.shiftKey || event.ctrlKey) return
  event.preventDefault()
  ;(event.currentTarget as HTMLTextAreaElement).form!.requestSubmit()
}
