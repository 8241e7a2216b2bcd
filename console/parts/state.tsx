import type { ComponentChildren } from 'preact'

/** How something is, in words and a colour: good, to be waited for, bad, or none of these. */
export type Mood = 'good' | 'wait' | 'bad' | 'none'

export function State({ mood, children }: { mood: Mood; children: ComponentChildren }) {
  return <span class={`state ${mood}`}>{children}</span>
}
