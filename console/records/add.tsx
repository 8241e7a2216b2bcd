import { useId, useState } from 'preact/hooks'
import { nameOf } from '../../src/dns/names.ts'
import { TYPES } from '../../src/dns/types.ts'
import { FIELDS } from '../model/fields.ts'
import { ownerOf } from '../model/owner.ts'
import { keyOf, type Place, type State } from '../model/rrset.ts'
import { titleOf, type Row } from '../model/rows.ts'
import { Field } from '../parts/form.tsx'
import { Asking } from './asking.tsx'
import { RRsetForm } from './rrset-form.tsx'

const USUAL = Object.keys(FIELDS)
const OTHERS = [...TYPES.keys()].filter((type) => !USUAL.includes(type)).sort()

interface AddProps {
  domain: string
  ttl: number
  minimumTtl: number
  /** The rows there are, by key. */
  rows: ReadonlyMap<string, Row>
  onStage: (place: Place, state: State, isLast: boolean) => void
  onLeave: () => void
}

/** Adds records at a name: a new RRset, or more records of one that is there. */
export function Add({ domain, ttl, minimumTtl, rows, onStage, onLeave }: AddProps) {
  const [name, setName] = useState('')
  const [type, setType] = useState('A')
  const [isAttempted, setAttempted] = useState(false)
  const typeId = useId()
  const owner = ownerOf(name, domain)
  const place = 'subname' in owner ? { subname: owner.subname, type } : undefined
  const row = place && rows.get(keyOf(place))
  // A row that will be deleted is replaced.
  const present = row?.edit?.after === null ? undefined : row?.state
  return (
    <RRsetForm
      label="Add a record"
      domain={domain}
      place={place}
      type={type}
      initial={{ ttl, records: [''] }}
      minimumTtl={minimumTtl}
      onStage={({ ttl: typed, records }, isLast) => {
        const state =
          present === undefined
            ? { ttl: typed, records }
            : { ttl: present.ttl, records: [...new Set([...present.records, ...records])] }
        onStage(place!, state, isLast)
      }}
      onAttempt={() => {
        setAttempted(true)
      }}
      onLeave={onLeave}
      below={
        <>
          {'answers' in owner && <Asking name={name} answers={owner.answers} onAnswer={setName} />}
          {present !== undefined && (
            <p class="note">There is {titleOf(place!)} already: its records and TTL stay, and these are added.</p>
          )}
        </>
      }
    >
      <Field
        label="Name"
        value={name}
        onText={setName}
        hint={
          place !== undefined ? (
            <span class="mono">{nameOf({ name: domain }, place.subname)}</span>
          ) : (
            `Such as www; @ is ${domain} itself`
          )
        }
        problems={'problems' in owner && (isAttempted || name !== '') ? owner.problems : []}
      />
      <div class="field">
        <label for={typeId}>Type</label>
        <select
          id={typeId}
          value={type}
          onChange={(event) => {
            setType(event.currentTarget.value)
          }}
        >
          <optgroup label="Usual">
            {USUAL.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </optgroup>
          <optgroup label="Others">
            {OTHERS.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </optgroup>
        </select>
      </div>
    </RRsetForm>
  )
}
