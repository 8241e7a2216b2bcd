import { counted, keyOf, shownName, type Change, type State } from '../model/rrset.ts'

/** Changes as people read them: what goes, and what comes, record by record. A word says it, not the colour alone. */
export function Difference({ changes }: { changes: Change[] }) {
  return (
    <>
      <p>{summaryOf(changes)}</p>
      <table class="list difference">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Type</th>
            <th scope="col">Change</th>
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => (
            <tr key={keyOf(change)}>
              <th scope="row" class="mono">
                {shownName(change.subname)}
              </th>
              <td>{change.type}</td>
              <td>
                <Lines {...change} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

/** `Creates 1 RRset, changes 2, removes 3.` */
function summaryOf(changes: Change[]): string {
  const numbers = [
    ['creates', changes.filter(({ before }) => before === null).length],
    ['changes', changes.filter(({ before, after }) => before !== null && after !== null).length],
    ['removes', changes.filter(({ after }) => after === null).length],
  ] as const
  const parts = numbers
    .filter(([, count]) => count > 0)
    .map(([verb, count], i) => `${verb} ${i === 0 ? counted(count, 'RRset') : String(count)}`)
  if (parts.length === 0) return 'This changes nothing.'
  const text = parts.join(', ')
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`
}

function Lines({ before, after }: Change) {
  const records = [...new Set([...(before?.records ?? []), ...(after?.records ?? [])])]
  return (
    <ul class="lines">
      {before !== null && after !== null && before.ttl !== after.ttl && (
        <>
          <Line sign="−" verb="removed" text={`TTL ${before.ttl}`} />
          <Line sign="+" verb="added" text={`TTL ${after.ttl}`} />
        </>
      )}
      {records.map((record) => {
        const [was, is] = [has(before, record), has(after, record)]
        if (was && is) return <Line key={record} sign=" " verb="kept" text={record} />
        return was ? (
          <Line key={record} sign="−" verb="removed" text={record} />
        ) : (
          <Line key={record} sign="+" verb="added" text={record} />
        )
      })}
    </ul>
  )
}

function has(state: State | null, record: string): boolean {
  return state?.records.includes(record) === true
}

function Line({ sign, verb, text }: { sign: string; verb: 'added' | 'removed' | 'kept'; text: string }) {
  return (
    <li class={`mono ${verb}`}>
      <span aria-hidden="true">{sign} </span>
      {verb !== 'kept' && <span class="unseen">{verb}: </span>}
      {text}
    </li>
  )
}
