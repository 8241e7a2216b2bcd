import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface Props {
  title: ComponentChildren
  /** Whether only the title is seen until somebody opens it. */
  isFolded?: boolean
  /** Whether what it does cannot be undone by a click. */
  isDanger?: boolean
  children: ComponentChildren
}

/** A card of a page, with its heading. */
export function Panel({ title, isFolded = false, isDanger = false, children }: Props) {
  const id = useId()
  const heading = <h2 id={id}>{title}</h2>
  return isFolded ? (
    <details class="panel">
      <summary>{heading}</summary>
      {children}
    </details>
  ) : (
    <section class={isDanger ? 'panel danger' : 'panel'} aria-labelledby={id}>
      {heading}
      {children}
    </section>
  )
}
