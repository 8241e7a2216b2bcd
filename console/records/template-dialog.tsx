import { useId, useState } from 'preact/hooks'
import { Field } from '../kit/form.tsx'
import { Dialog } from '../kit/review.tsx'
import type { Row } from '../rrsets/rows.ts'
import { counted } from '../rrsets/rrset.ts'
import { suggestWhy } from '../why.ts'
import type { Edit } from './draft.ts'
import { answerTo, editsFor, TEMPLATES } from './templates.ts'

interface TemplateProps {
  domain: string
  ttl: number
  /** The rows there are, by key. */
  rows: ReadonlyMap<string, Row>
  onStage: (edits: Edit[]) => void
  onClose: () => void
}

/** Stages records that belong together. */
export function TemplateDialog({ domain, ttl, rows, onStage, onClose }: TemplateProps) {
  const [title, setTitle] = useState('Mail')
  /** What was typed, by template and label. */
  const [typed, setTyped] = useState<Partial<Record<string, string>>>({})
  const id = useId()
  const { asks, lines } = TEMPLATES[title]!
  const fields = asks(domain).map((ask) => {
    const key = `${title} ${ask[0]}`
    const value = typed[key] ?? ask[2] ?? ''
    return { key, value, isTyped: key in typed, ask, answer: answerTo(ask, value, domain) }
  })
  const values = fields.flatMap(({ answer }) => ('value' in answer ? answer.value : []))
  const { edits, omitted } =
    values.length === fields.length ? editsFor(lines(values, domain), rows, ttl) : { edits: [], omitted: [] }
  return (
    <Dialog title="Records from a template" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          suggestWhy(`Template “${title}”`)
          onStage(edits)
        }}
      >
        <div class="field">
          <label for={id}>Template</label>
          <select
            id={id}
            value={title}
            onChange={(event) => {
              setTitle(event.currentTarget.value)
            }}
          >
            {Object.keys(TEMPLATES).map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </div>
        <p class="quiet">
          Records that are there stay, and what is in their way is left out. Nothing is published before the review.
        </p>
        {fields.map(({ key, ask: [label, kind], value, isTyped, answer }) => (
          <Field
            key={key}
            label={label}
            value={value}
            hint={
              'value' in answer && answer.value !== '' && answer.value !== value.trim()
                ? `Read as ${answer.value}`
                : kind === 'MX'
                  ? 'With commas between several; the lowest number is tried first'
                  : undefined
            }
            onText={(text) => {
              setTyped({ ...typed, [key]: text })
            }}
            problems={isTyped && 'problems' in answer ? answer.problems : []}
          />
        ))}
        {omitted.map((text) => (
          <p key={text} class="note">
            {text}
          </p>
        ))}
        <p class="buttons">
          <button class="main" disabled={edits.length === 0}>
            Save {edits.length > 0 && counted(edits.length, 'record set')}
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </p>
      </form>
    </Dialog>
  )
}
