import { type Change, counted, rrsetKey, shownName, type State, verbFor } from '../model/rrset.ts'
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
  const records = [...new Set([...(before?.records ?? []), ...(after?.records ?? [])])]
  return (
    <ul class="lines">
      {before?.ttl !== after?.ttl && (
        <>
          {before && <Line verb="removed" text={`TTL ${before.ttl}`} />}
          {after && <Line verb="added" text={`TTL ${after.ttl}`} />}
        </>
      )}
      {records.map((record) => (
        <Line
          key={record}
          verb={!has(after, record) ? 'removed' : has(before, record) ? 'kept' : 'added'}
          text={record}
        />
      ))}
    </ul>
  )
}

function has(state: State | null, record: string): boolean {
  return state?.records.includes(record) === true
}

const SIGNS = { added: '+', removed: '−', kept: ' ' }

function Line({ verb, text }: { verb: keyof typeof SIGNS; text: string }) {
  return (
    <li class={`mono ${verb}`}>
      <span aria-hidden="true">{SIGNS[verb]} </span>
      <span class="unseen">{verb}: </span>
      {text}
    </li>
  )
}
