import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Opened } from './opened.tsx'

interface Props {
  title: string
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
    <Opened class="panel" summary={heading}>
      {children}
    </Opened>
  ) : (
    <section class={isDanger ? 'panel danger' : 'panel'} aria-labelledby={id}>
      {heading}
      {children}
    </section>
  )
}
