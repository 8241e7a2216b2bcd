import type { ComponentChildren } from 'preact'
import { wordFor } from '../rrsets/rows.ts'
import { counted } from '../rrsets/rrset.ts'
import type { Edits } from './draft.ts'

interface TrayProps {
  domain: string
  edits: Edits
  /** How many of them the service has refused. */
  refused: number
  /** The acts. */
  children: ComponentChildren
}

/** How an edit is counted: its class, and its word. */
const KINDS = { add: ['plus', 'new'], change: ['tilde', 'edited'], delete: ['minus', 'removed'] } as const

/** What is staged, counted where it is applied. */
export function Tray({ domain, edits, refused, children }: TrayProps) {
  const words = [...edits.values()].map(wordFor)
  return (
    <div class="bar tray">
      <span role="status">
        <b>
          {counted(edits.size, 'change')}
          <span class="unseen"> to {domain}</span>
        </b>
        {(['add', 'change', 'delete'] as const).map((word) => {
          const count = words.filter((each) => each === word).length
          const [kind, text] = KINDS[word]
          return (
            count > 0 && (
              <>
                {' · '}
                <span class={kind}>
                  {count} {text}
                </span>
              </>
            )
          )
        })}
        {refused > 0 && `; the service refused ${refused}, see the table`}
      </span>
      <span class="rest">{children}</span>
    </div>
  )
}
