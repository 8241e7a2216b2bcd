import { useRef } from 'preact/hooks'
import { countOf, type Mistake, spanOf } from './zonefile.ts'

interface ZonefileInputProps {
  label: string
  /** The least height, in lines. */
  rows: number
  text: string
  /** What is wrong with it, shown beside it, and how many RRsets it has; undefined: nobody has looked. */
  judged: { mistakes: Mistake[]; count: number } | undefined
  /** Whether it can only be read. */
  isFixed?: boolean
  onText: (text: string) => void
}

/** A zone file that is typed, pasted, dropped, or chosen. */
export function ZonefileInput({ label, rows, text, judged, isFixed = false, onText }: ZonefileInputProps) {
  const mistakes = judged?.mistakes ?? []
  const input = useRef<HTMLTextAreaElement>(null)
  const take = async (file: File | undefined) => {
    if (file !== undefined) onText(await file.text())
  }
  const goTo = (line: number) => {
    const area = input.current!
    area.focus()
    area.setSelectionRange(...spanOf(text, line))
    // Not every browser scrolls to what is selected.
    area.scrollTop = (area.scrollHeight / text.split('\n').length) * (line - 3)
  }
  return (
    <div class="field">
      <label for="zonefile">{label}</label>
      <div class="zone-text">
        <textarea
          ref={input}
          id="zonefile"
          rows={Math.max(rows, Math.min(24, text.split('\n').length))}
          spellcheck={false}
          wrap="off"
          readOnly={isFixed}
          value={text}
          aria-invalid={mistakes.length > 0}
          aria-describedby={mistakes.length > 0 ? 'mistakes' : undefined}
          onInput={(event) => {
            onText(event.currentTarget.value)
          }}
          onDragOver={(event) => {
            event.preventDefault()
          }}
          onDrop={(event) => {
            const file = event.dataTransfer?.files[0]
            if (file === undefined || isFixed) return
            event.preventDefault()
            void take(file)
          }}
        />
        {judged && <Mistakes {...judged} text={text} onGo={goTo} />}
      </div>
      <label class="quiet" hidden={isFixed}>
        or from a file{' '}
        <input
          type="file"
          onChange={(event) => {
            void take(event.currentTarget.files?.[0])
          }}
        />
      </label>
    </div>
  )
}

/** Goes to what is wrong. */
export function focusMistakes(): void {
  document.getElementById('mistakes')?.focus()
}

interface MistakesProps {
  mistakes: Mistake[]
  count: number
  text: string
  onGo: (line: number) => void
}

/** What is wrong, by line. A click goes to the line. */
function Mistakes({ mistakes, count, text, onGo }: MistakesProps) {
  return (
    <section class={mistakes.length > 0 ? 'mistakes' : 'mistakes none'} aria-labelledby="mistakes">
      <p id="mistakes" role="status" tabIndex={-1}>
        {countOf(mistakes, count)}
      </p>
      <ol>
        {mistakes.map(({ line, text: problem }) => (
          <li key={`${line} ${problem}`}>
            {line === undefined ? (
              problem
            ) : (
              <button
                type="button"
                onClick={() => {
                  onGo(line)
                }}
              >
                <b>Line {line}</b>
                <span class="mono">{text.slice(...spanOf(text, line)).slice(0, 200)}</span>
                <span>{problem}</span>
              </button>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}
