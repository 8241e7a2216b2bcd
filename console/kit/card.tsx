import type { ComponentChildren } from 'preact'
import { Mark } from './icons.tsx'

/** The frame of the pages of somebody who has not signed in: a card with the mark and the name of the service's host. */
export function Card({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="card">
      <Mark />
      <h1 tabIndex={-1}>{title}</h1>
      <p class="host">Zoneplane at {window.location.hostname}</p>
      {children}
    </div>
  )
}
