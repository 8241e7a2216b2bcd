import type { ComponentChildren } from 'preact'
import type { Mood } from '../model/dnssec.ts'

/** How something is, in words and a colour. */
export function State({ mood, children }: { mood: Mood; children: ComponentChildren }) {
  return <span class={`state ${mood}`}>{children}</span>
}
