import type { ComponentChildren } from 'preact'
import type { Step } from './dnssec.ts'

/** Steps of something that takes days. @param children what the present one waits for */
export function Steps({ steps, children }: { steps: Step[]; children: ComponentChildren }) {
  return (
    <ol class="steps">
      {steps.map(({ title, text, progress }) => (
        <li key={title} class={progress} aria-current={progress === 'now' ? 'step' : undefined}>
          <b>
            {progress === 'done' && (
              <>
                <span aria-hidden="true">✓ </span>
                <span class="unseen">done: </span>
              </>
            )}
            {title}
          </b>{' '}
          {progress === 'now' ? children : text}
        </li>
      ))}
    </ol>
  )
}
