import { useEffect } from 'preact/hooks'

/** Calls `onKey` for keys that nothing else on the page uses; it returns whether it has used the key. */
export function useKeys(onKey: (event: KeyboardEvent) => boolean): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || document.querySelector('dialog[open]') !== null) return
      if (onKey(event)) event.preventDefault()
    }
    document.addEventListener('keydown', listen)
    return () => {
      document.removeEventListener('keydown', listen)
    }
  })
}
