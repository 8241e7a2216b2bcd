interface TakenProps {
  domain: string
  /** What a name without final dot may mean; the first is what it is taken for. */
  answers: string[]
  /** Which input of the fieldset has the name; it gets the focus after another answer. */
  at: number
  onAnswer: (answer: string) => void
}

/** Says what a name without final dot is taken for, and offers what else it may mean. */
export function Taken({ domain, answers, at, onAnswer }: TakenProps) {
  const [taken, ...others] = answers
  return (
    <p class="asking quiet">
      <span>
        Read as <b class="mono">{taken}</b> ({whereIs(taken!, domain)}).
      </span>
      {others.map((answer) => (
        <button
          key={answer}
          type="button"
          class="small"
          onClick={({ currentTarget }) => {
            const inputs = currentTarget.closest('fieldset')!.querySelectorAll<HTMLElement>('input, textarea')
            onAnswer(answer)
            // A record that is edited as text has one.
            ;(inputs[at] ?? inputs[0])!.focus()
          }}
        >
          Rather <span class="mono">{answer}</span> ({whereIs(answer, domain)})
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
