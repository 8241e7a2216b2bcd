import { useId, useState } from 'preact/hooks'
import { nameOf } from '../../src/dns/names.ts'
import { TYPES } from '../../src/dns/types.ts'
import { useKept } from '../kept.ts'
import { Field } from '../kit/form.tsx'
import { FIELDS } from '../rrsets/fields.ts'
import { ownerOf } from '../rrsets/owner.ts'
import { type Row, titleOf } from '../rrsets/rows.ts'
import { type Place, rrsetKey, shownName, type State } from '../rrsets/rrset.ts'
import { type Next, RRsetForm, type Typed } from './rrset-form.tsx'
import { formKey } from './staging.ts'

const USUAL = Object.keys(FIELDS)
const OTHERS = [...TYPES.keys()].filter((type) => !USUAL.includes(type)).sort()

/** The number of a form, and what it begins with; default: nothing, and the type of the record before. */
export interface Adding {
  number: number
  place?: Place
}

export const FIRST: Adding = { number: 1 }

interface AddProps extends Omit<Adding, 'number'> {
  domain: string
  ttl: number
  minimumTtl: number
  /** The rows there are, by key. */
  rows: ReadonlyMap<string, Row>
  onStage: (place: Place, state: State, next: Next) => void
  /** Called to edit a row instead. */
  onEdit: (key: string) => void
  onCancel: () => void
}

/** What was typed in the form. */
interface Kept {
  name: string
  type: string
  typed?: Typed
}

/** The type of the record that was added last, with which the next one begins. */
let lastType = 'A'

/** Adds records at a name: a new RRset, or more records of one that is there. */
export function Add({ domain, place: beginning, ttl, minimumTtl, rows, onStage, onEdit, onCancel }: AddProps) {
  const [empty] = useState<Kept>({
    name: beginning === undefined ? '' : beginning.subname || '@',
    type: beginning?.type ?? lastType,
  })
  const [kept = empty, setKept] = useKept<Kept>(formKey(domain, ''))
  const { name, type, typed } = kept
  const setType = (next: string) => {
    setKept({ ...kept, type: next })
  }
  const [isAttempted, setAttempted] = useState(false)
  const typeId = useId()
  const owner = ownerOf(name, domain)
  const place = 'subname' in owner ? { subname: owner.subname, type } : undefined
  // Else a full name or @ was typed.
  const isRelative = name === '' || place?.subname === name
  const row = place && rows.get(rrsetKey(place))
  // A row that will be deleted is replaced.
  const present = row?.edit?.after === null ? undefined : row?.state
  const isFull = present !== undefined && TYPES.get(type)!.single === true
  return (
    <RRsetForm
      label="Add record"
      domain={domain}
      typed={typed}
      onTyped={(next) => {
        setKept(next && { ...kept, typed: next })
      }}
      place={isFull ? undefined : place}
      type={type}
      initial={{ ttl, records: [''] }}
      minimumTtl={minimumTtl}
      usualTtl={rows.size > 0 ? ttl : undefined}
      isNew
      onStage={({ ttl: typed, records }, next) => {
        const state =
          present === undefined
            ? { ttl: typed, records }
            : { ttl: present.ttl, records: [...new Set([...present.records, ...records])] }
        lastType = type
        onStage(place!, state, next)
      }}
      onAttempt={() => {
        setAttempted(true)
      }}
      onCancel={onCancel}
      onType={setType}
      below={
        <>
          {present !== undefined && (
            // As long as it is full, staging leads to the button.
            <p class={isFull ? 'obstacle' : 'note'}>
              There is {titleOf(place!)} already{!isFull && ': its records and TTL stay, and these are added'}.{' '}
              <button
                type="button"
                class="small"
                onClick={() => {
                  onEdit(row!.key)
                }}
              >
                Edit {titleOf(place!)} instead
              </button>
            </p>
          )}
        </>
      }
    >
      <Field
        label="Name"
        value={name}
        onText={(next) => {
          setKept({ ...kept, name: next })
        }}
        suffix={isRelative ? `.${domain}` : ''}
        hint={
          place === undefined ? (
            `Such as www; @ is ${domain} itself`
          ) : isRelative ? undefined : (
            <>
              Read as {shownName(place.subname)}: <span class="mono">{nameOf({ name: domain }, place.subname)}</span>
            </>
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
