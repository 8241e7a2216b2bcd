import { useLayoutEffect } from 'preact/hooks'

/** Calls `onKey` for keys that nothing else on the page uses; it returns whether it has used the key. */
export function useKeys(onKey: (event: KeyboardEvent) => boolean): void {
  // Before the page is painted: a key that comes then is one of what is shown.
  useLayoutEffect(() => {
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
