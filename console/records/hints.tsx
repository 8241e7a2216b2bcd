import { useEffect, useState } from 'preact/hooks'
import { type Row, titleOf } from '../rrsets/rows.ts'
import { counted, rrsetKey } from '../rrsets/rrset.ts'
import { type Advice, adviceOn } from './advice.ts'

/** How many hints are listed. */
const MOST_HINTS = 100

interface HintsProps {
  domain: string
  rows: Row[]
  /** Called with the row that a hint is about. */
  onGo: (key: string) => void
}

/** What may be wrong with the records, as they will be when all edits are applied. */
export function Hints({ domain, rows, onGo }: HintsProps) {
  const [found, setFound] = useState<Advice[]>([])
  // After the rows are drawn.
  useEffect(() => {
    const left = rows.filter(({ edit }) => edit?.after !== null)
    setFound(
      adviceOn(
        left.map((row) => ({ ...row, ...row.state })),
        domain,
      ),
    )
  }, [rows, domain])
  if (found.length === 0) return null
  return (
    <details class="keys hints quiet">
      <summary>{counted(found.length, 'hint')}</summary>
      <ul>
        {found.slice(0, MOST_HINTS).map((advice) => (
          <li key={`${rrsetKey(advice)} ${advice.text}`}>
            <button
              class="plain mono"
              onClick={() => {
                onGo(rrsetKey(advice))
              }}
            >
              {titleOf(advice)}
            </button>{' '}
            {advice.text}
          </li>
        ))}
        {found.length > MOST_HINTS && <li>and {found.length - MOST_HINTS} more</li>}
      </ul>
    </details>
  )
}
