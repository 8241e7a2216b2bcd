import { List } from '../kit/list.tsx'
import { type Change, counted, type Line as RecordLine, linesOf, rrsetKey, shownName, verbFor } from './rrset.ts'
import { ttlWords } from './ttl.ts'
import { TypeBadge } from './type-badge.tsx'

/** Changes as people read them: what goes, and what comes, record by record. A word says it, not the colour alone. */
export function Difference({ changes }: { changes: Change[] }) {
  const ttls = new Set(changes.map(ttlOf))
  // What all have alike is said once.
  const common = changes.length > 1 && ttls.size === 1 ? [...ttls][0] : undefined
  return (
    <>
      <p>
        {summaryOf(changes)} {common !== undefined && `TTL of all: ${common}.`}
      </p>
      {changes.length > 0 && (
        <List isDifference heads={['Name', 'Type', 'Change']}>
          {changes.map((change) => (
            <tr key={rrsetKey(change)}>
              <th scope="row" class="mono">
                {shownName(change.subname)}
              </th>
              <td>
                <TypeBadge type={change.type} />
              </td>
              <td>
                <Lines {...change} hasTtl={common === undefined} />
              </td>
            </tr>
          ))}
        </List>
      )}
    </>
  )
}

/** `Creates 1 RRset, changes 2, removes 3.` */
function summaryOf(changes: Change[]): string {
  const parts = (['created', 'changed', 'removed'] as const)
    .map((verb) => [verb.replace(/d$/, 's'), changes.filter((change) => verbFor(change) === verb).length] as const)
    .filter(([, count]) => count > 0)
    .map(([verb, count], i) => `${verb} ${i === 0 ? counted(count, 'record set') : String(count)}`)
  if (parts.length === 0) return 'This changes nothing.'
  const text = parts.join(', ')
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`
}

/** The TTL of what comes or goes; if it changes, both. */
function ttlOf({ before, after }: Change): string {
  const [former, next] = [before ?? after, after ?? before].map((state) => ttlWords(state!.ttl))
  return former === next ? former! : `${former} → ${next}`
}

function Lines({ before, after, hasTtl }: Change & { hasTtl: boolean }) {
  return (
    <ul class="lines">
      {hasTtl && before?.ttl !== after?.ttl && (
        <>
          {before && <Line verb="removed" text={`TTL ${ttlWords(before.ttl)}`} />}
          {after && <Line verb="added" text={`TTL ${ttlWords(after.ttl)}`} />}
        </>
      )}
      {linesOf({ before, after }).map(({ record, verb }) => (
        <Line key={record} verb={verb} text={record} />
      ))}
    </ul>
  )
}

function Line({ verb, text }: { verb: RecordLine['verb']; text: string }) {
  return (
    <li class={`mono ${verb}`}>
      <Sign verb={verb} />
      {text}
    </li>
  )
}

const SIGNS = { added: '+', removed: '−', kept: ' ' }

/** What becomes of a record: a sign for those who see it, a word for the others. */
export function Sign({ verb }: Pick<RecordLine, 'verb'>) {
  return (
    <>
      <span aria-hidden="true">{SIGNS[verb]} </span>
      <span class="unseen">{verb}: </span>
    </>
  )
}
