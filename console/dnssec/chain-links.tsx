import type { Link } from './chain.ts'

/** Zones from the root down, and between two of them what links them: a line, and words on it. */
export function Chain({ links }: { links: Link[] }) {
  return (
    <ol class="chain" aria-label="Chain of trust">
      {links.map(({ zone, about, join }) => (
        <li key={zone}>
          {join && (
            <span class={`join ${join.mood}`}>
              <span>{join.words}</span>
            </span>
          )}
          <span class="link">
            <b class="mono">{zone}</b> <span class="quiet">{about}</span>
          </span>
        </li>
      ))}
    </ol>
  )
}
