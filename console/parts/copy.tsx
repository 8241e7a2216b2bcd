import { useState } from 'preact/hooks'

/** A button that copies a text. @param what the text, as the button's name says it: `Copy the digest` */
export function Copy({ text, what }: { text: string; what: string }) {
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
    <button class="small" aria-label={`Copy ${what}`} onClick={() => void copy()}>
      {isCopied ? 'Copied' : 'Copy'}
    </button>
  )
}
