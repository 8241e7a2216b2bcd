import { useCallback, useEffect, useState } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import { Refused } from '../api/client.ts'

/** What a page has asked for: nothing yet, a value, or a problem. */
export interface Asked<T> {
  value: T | undefined
  problem: Refused | undefined
  /** Asks again; the former value stays until the new one is there. */
  reload: () => void
}

/** Asks when the component appears, and again whenever one of `inputs` changes. */
export function useAsked<T>(load: () => Promise<T>, inputs: unknown[]): Asked<T> {
  const [value, setValue] = useState<T>()
  const [problem, setProblem] = useState<Refused>()
  const [turn, setTurn] = useState(0)
  const reload = useCallback(() => {
    setTurn((before) => before + 1)
  }, [])
  useEffect(() => {
    let isCurrent = true
    load().then(
      (loaded) => {
        if (!isCurrent) return
        setValue(() => loaded)
        setProblem(undefined)
      },
      (reason: unknown) => {
        if (isCurrent) setProblem(reason instanceof Refused ? reason : new Refused(0, { detail: String(reason) }))
      },
    )
    return () => {
      isCurrent = false
    }
  }, [...inputs, turn])
  return { value, problem, reload }
}

/** Shows what was asked for, or that it is awaited, or why it is not there. */
export function Loaded<T>({ asked, children }: { asked: Asked<T>; children: (value: T) => ComponentChildren }) {
  const { value, problem, reload } = asked
  return (
    <>
      {problem !== undefined && <Failure problem={problem} again={reload} />}
      {value !== undefined ? children(value) : problem === undefined && <p class="quiet">Loading…</p>}
    </>
  )
}

/** Says what went wrong. @param again what the button does that tries it again */
export function Failure({ problem, again }: { problem: Error; again?: () => void }) {
  return (
    <div class="alert" role="alert">
      <p>{problem.message}</p>
      {again !== undefined && <button onClick={again}>Try again</button>}
    </div>
  )
}
