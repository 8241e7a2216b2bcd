import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

/** A disclosure whose content is mounted, and asks for what it shows, only while it is open. */
export function Opened(props: { class?: string; summary: ComponentChildren; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details
      class={props.class}
      onToggle={(event) => {
        setOpen(event.currentTarget.open)
      }}
    >
      <summary>{props.summary}</summary>
      {isOpen && props.children}
    </details>
  )
}
