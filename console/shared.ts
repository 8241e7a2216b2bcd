import { useLayoutEffect, useState } from 'preact/hooks'

/** Called, in this order, when any shared value has changed. */
const listeners = new Set<() => void>()

/** A value that all pages share. */
export class Shared<T> {
  #value: T

  constructor(value: T) {
    this.#value = value
  }

  get value(): T {
    return this.#value
  }

  set value(value: T) {
    if (value === this.#value) return
    this.#value = value
    for (const listener of listeners) listener()
  }
}

/** Calls a function after every change of a shared value, from now on until the function returned is called. */
export function onChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

/** Draws a component, and all in it, again when a shared value has changed: they change seldom. */
export function useShared(): void {
  const [, setDrawn] = useState({})
  useLayoutEffect(
    () =>
      onChange(() => {
        setDrawn({})
      }),
    [],
  )
}
