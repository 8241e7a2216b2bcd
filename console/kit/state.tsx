import type { ComponentChildren } from 'preact'
import type { Mood } from '../dnssec/dnssec.ts'

/** How something is, in words and a colour. */
export function State({ mood, title, children }: { mood: Mood; title?: string; children: ComponentChildren }) {
  return (
    <span class={`state ${mood}`} title={title}>
      {children}
    </span>
  )
}
