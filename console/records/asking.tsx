interface AskingProps {
  name: string
  answers: string[]
  onAnswer: (answer: string) => void
}

/** Asks which name is meant: the console never guesses a final dot. */
export function Asking({ name, answers, onAnswer }: AskingProps) {
  return (
    <p class="asking" role="group" aria-label={`What ${name} means`}>
      <span>Which name is meant?</span>
      {answers.map((answer) => (
        <button
          key={answer}
          type="button"
          class="small mono"
          onClick={() => {
            onAnswer(answer)
          }}
        >
          {answer}
        </button>
      ))}
    </p>
  )
}
