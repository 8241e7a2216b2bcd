import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

/** A disclosure whose content is mounted, and asks for what it shows, only while it is open. */
export function Opened({ summary, children }: { summary: ComponentChildren; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details
      onToggle={(event) => {
        setOpen(event.currentTarget.open)
      }}
    >
      <summary>{summary}</summary>
      {isOpen && children}
    </details>
  )
}
