import { useId } from 'preact/hooks'

interface AskingProps {
  domain: string
  answers: string[]
  /** Which input of the fieldset, or else of the form, is asked about; it gets the focus after the answer. */
  at: number
  onAnswer: (answer: string) => void
}

/** Asks which name is meant: the console never guesses a final dot. Forms show the problem once staging was tried. */
export function Asking({ domain, answers, at, onAnswer }: AskingProps) {
  const id = useId()
  return (
    <p class="asking" role="group" aria-labelledby={id}>
      <span id={id}>
        Which name is meant? <span class="problem">Choose one of these first.</span>
      </span>
      {answers.map((answer) => (
        <button
          key={answer}
          type="button"
          class="small"
          onClick={({ currentTarget }) => {
            const inputs = currentTarget.closest('fieldset, form')!.querySelectorAll<HTMLElement>('input, textarea')
            onAnswer(answer)
            // A record that is edited as text has one.
            ;(inputs[at] ?? inputs[0])!.focus()
          }}
        >
          <span class="mono">{answer}</span> ({whereIs(answer, domain)})
        </button>
      ))}
    </p>
  )
}

/** Says what tells a name from the other answer, which has one more or one less of the domain at its end. */
function whereIs(name: string, domain: string): string {
  const labels = `.${name.toLowerCase()}`
  if (labels.endsWith(`.${domain}.${domain}.`)) return `${domain} twice`
  return labels.endsWith(`.${domain}.`) ? `in ${domain}` : `outside ${domain}`
}
