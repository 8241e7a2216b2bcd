import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { Refused, type Slice } from '../api/client.ts'

/** What a page has asked for: nothing yet, a value, or a problem. */
export interface Asked<T> {
  value: T | undefined
  problem: Refused | undefined
  /** Asks again; the former value stays until the new one is there. */
  reload: () => void
  /** Asks for the next page of a list; undefined if there is none. */
  more?: (() => void) | undefined
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
        if (isCurrent) setProblem(refusedBy(reason))
      },
    )
    return () => {
      isCurrent = false
    }
  }, [...inputs, turn])
  return { value, problem, reload }
}

/** Asks for the first page of a list as `useAsked` does; `more` adds the next one, until there is none. */
export function useMore<T>(load: (cursor: string) => Promise<Slice<T>>, inputs: unknown[]): Asked<T[]> {
  const [further, setFurther] = useState<{ of: Slice<T>; slices: Slice<T>[] }>()
  const [problem, setProblem] = useState<Refused>()
  const first = useAsked(() => load(''), inputs)
  // Pages after another first one are not of this list.
  const slices = first.value === undefined ? [] : [first.value, ...(further?.of === first.value ? further.slices : [])]
  const next = slices.at(-1)?.next
  const add = async (cursor: string) => {
    try {
      const slice = await load(cursor)
      setFurther({ of: first.value!, slices: [...slices.slice(1), slice] })
      setProblem(undefined)
    } catch (reason) {
      setProblem(refusedBy(reason))
    }
  }
  return {
    ...first,
    problem: first.problem ?? problem,
    value: first.value && slices.flatMap(({ items }) => items),
    more: next === undefined ? undefined : () => void add(next),
  }
}

/** Whatever was thrown, as what pages can show. */
export function refusedBy(reason: unknown): Refused {
  return reason instanceof Refused ? reason : new Refused(0, { detail: String(reason) })
}

/** Shows what was asked for, or that it is awaited, or why it is not there; below a list, the way to more of it. */
export function Loaded<T>({ asked, children }: { asked: Asked<T>; children: (value: T) => ComponentChildren }) {
  const { value, problem, reload, more } = asked
  return (
    <>
      {problem !== undefined && <Failure problem={problem} again={isFinal(problem) ? undefined : reload} />}
      {value !== undefined ? children(value) : problem === undefined && <p class="quiet">Loading…</p>}
      {more !== undefined && <button onClick={more}>Show more</button>}
    </>
  )
}

/** Whether the same request would be refused again. */
function isFinal({ status }: Refused): boolean {
  return status >= 400 && status < 500 && status !== 429
}

/** Says what went wrong. @param again what the button does that tries it again */
export function Failure({ problem, again }: { problem: Error; again?: (() => void) | undefined }) {
  return (
    <div class="alert" role="alert">
      <p>{problem.message}</p>
      {again !== undefined && <button onClick={again}>Try again</button>}
    </div>
  )
}
