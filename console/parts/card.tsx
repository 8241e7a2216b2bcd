import type { ComponentChildren } from 'preact'

/** The frame of the pages of somebody who has not signed in: a card below the name of the service's host. */
export function Card({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="card">
      <p class="host">{window.location.hostname}</p>
      <h1 tabIndex={-1}>{title}</h1>
      {children}
    </div>
  )
}
