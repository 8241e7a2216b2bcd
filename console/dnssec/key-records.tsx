import { Copy } from '../kit/copy.tsx'
import { type Part, partsOfDs } from './dnssec.ts'

/** DS records of one key: the one that registrars take, and those with other digests. */
export function DsRecords({ records }: { records: string[] }) {
  const usual = records.find((record) => record.split(' ')[2] === '2') ?? records[0]
  const others = records.filter((record) => record !== usual)
  return (
    <>
      {usual !== undefined && <Parts parts={partsOfDs(usual)} whole={usual} what="the DS record" />}
      {others.length > 0 && (
        <details>
          <summary>With another digest</summary>
          {others.map((record) => (
            <Parts key={record} parts={partsOfDs(record)} whole={record} what="this DS record" />
          ))}
        </details>
      )}
    </>
  )
}

/** The parts of a record, each with a button that copies it, and the record in one line. */
export function Parts({ parts, whole, what }: { parts: Part[]; whole: string; what: string }) {
  return (
    <dl class="parts">
      {parts.map(({ label, value, shown }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            <code>{shown}</code> <Copy text={value} what={`${label.toLowerCase()} of ${what}`} />
          </dd>
        </div>
      ))}
      <div>
        <dt>In one line</dt>
        <dd>
          <code>{whole}</code> <Copy text={whole} what={what} />
        </dd>
      </div>
    </dl>
  )
}
