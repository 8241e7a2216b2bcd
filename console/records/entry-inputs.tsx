import { useId } from 'preact/hooks'
import { type Entry, type Judgement, withText, withValue } from '../rrsets/entry.ts'
import { answered, type Field, FIELDS } from '../rrsets/fields.ts'
import { Taken } from './taken.tsx'

interface EntryProps {
  domain: string
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
export function EntryInputs(props: EntryProps) {
  const { domain, position, entry, judgement, isJudged, onChange, onRemove } = props
  const problemId = useId()
  const { taken, problem, at, quoted } = judgement
  const isWrong = isJudged && problem !== undefined
  const marks = (i: number) => ({ isWrong: isWrong && i === at, describedBy: isWrong ? problemId : undefined })
  return (
    <fieldset class="entry">
      <legend class="unseen">Value {position}</legend>
      <div class="entry-inputs">
        {entry.values === undefined ? (
          <Input
            {...marks(0)}
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
              {...marks(i)}
              field={field}
              value={entry.values![i]!}
              onText={(text) => {
                onChange(withValue(entry, i, text))
              }}
            />
          ))
        )}
        <button type="button" aria-label={`Remove value ${position}`} onClick={onRemove}>
          Remove
        </button>
      </div>
      {isWrong && (
        <p class="problem" id={problemId}>
          {problem}
          {quoted !== undefined && (
            <>
              {' '}
              <button
                type="button"
                class="small"
                onClick={() => {
                  onChange(withText(entry, quoted))
                }}
              >
                Add the quotes
              </button>
            </>
          )}
        </p>
      )}
      {taken !== undefined && (
        <Taken
          domain={domain}
          answers={taken.answers}
          at={taken.at}
          onAnswer={(answer) => {
            onChange(withText(entry, answered(entry.text, taken, answer)))
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

function Input({ field: { label, kind, example }, value, isWrong, describedBy, onText }: InputProps) {
  const id = useId()
  const shared = {
    id,
    value,
    placeholder: example,
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
