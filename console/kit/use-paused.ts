import { useEffect, useState } from 'preact/hooks'

/** Milliseconds without a key after which a text is read: a large one takes longer than a key may. */
const PAUSE = 300

/** What `read` returns, once its inputs have not changed for a while; undefined until then for the first time. */
export function usePaused<T>(read: () => T, inputs: unknown[]): T | undefined {
  const [value, setValue] = useState<T>()
  useEffect(() => {
    const timer = setTimeout(() => {
      setValue(() => read())
    }, PAUSE)
    return () => {
      clearTimeout(timer)
    }
  }, inputs)
  return value
}
