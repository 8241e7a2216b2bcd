import { type Change, counted, type Line as RecordLine, linesOf, rrsetKey, shownName, verbFor } from '../model/rrset.ts'
import { List } from './list.tsx'

/** Changes as people read them: what goes, and what comes, record by record. A word says it, not the colour alone. */
export function Difference({ changes }: { changes: Change[] }) {
  return (
    <>
      <p>{summaryOf(changes)}</p>
      {changes.length > 0 && (
        <List isDifference heads={['Name', 'Type', 'Change']}>
          {changes.map((change) => (
            <tr key={rrsetKey(change)}>
              <th scope="row" class="mono">
                {shownName(change.subname)}
              </th>
              <td>{change.type}</td>
              <td>
                <Lines {...change} />
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

function Lines({ before, after }: Change) {
  return (
    <ul class="lines">
      {before?.ttl !== after?.ttl && (
        <>
          {before && <Line verb="removed" text={`TTL ${before.ttl}`} />}
          {after && <Line verb="added" text={`TTL ${after.ttl}`} />}
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
