import { useState } from 'preact/hooks'

interface CopyProps {
  text: string
  /** The text, as the button's name says it: `Copy the digest`. */
  what: string
  /** True if the button stands among others, and shows its whole name. */
  isNamed?: boolean
}

/** A button that copies a text. */
export function Copy({ text, what, isNamed = false }: CopyProps) {
  const [isCopied, setCopied] = useState(false)
  // Browsers offer it only over https and on the own machine.
  if (!('clipboard' in navigator)) return null
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => {
      setCopied(false)
    }, 2000)
  }
  return (
    <button
      type="button"
      class={isNamed ? undefined : 'small copy'}
      aria-label={`Copy ${what}`}
      onClick={({ currentTarget }) => {
        currentTarget.style.minWidth = `${currentTarget.offsetWidth}px`
        void copy()
      }}
    >
      {isCopied ? 'Copied' : isNamed ? `Copy ${what}` : 'Copy'}
    </button>
  )
}
