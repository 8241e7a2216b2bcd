import type { ComponentChildren } from 'preact'
import { byDay, dayWords } from './history.ts'

interface Props<T> {
  entries: T[]
  /** What is shown of an entry. */
  children: (entry: T) => ComponentChildren
}

/** Entries under the days on which they were made. */
export function Days<T extends { id: string; created: string }>({ entries, children }: Props<T>) {
  return (
    <>
      {byDay(entries).map(({ day, entries: made }) => (
        <section key={day.getTime()}>
          <h2 class="day">{dayWords(day)}</h2>
          <ol class="entries">
            {made.map((entry) => (
              <li key={entry.id}>{children(entry)}</li>
            ))}
          </ol>
        </section>
      ))}
    </>
  )
}
