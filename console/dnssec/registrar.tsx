import { Copy } from '../kit/copy.tsx'
import { Panel } from '../kit/panel.tsx'
import { stageElsewhere } from '../records/staging.ts'
import { navigate } from '../router.ts'
import { zoneLines } from '../rrsets/zone-lines.ts'
import { partsOfDnskey, partsOfNames } from './dnssec.ts'
import { DsRecords, Parts } from './key-records.tsx'
import type { Security } from './security.ts'

/** The states in which the registrar may lack the nameservers. */
const NEED_NAMESERVERS = ['unknown', 'not-delegated', 'elsewhere', 'partial']

interface Props {
  security: Security
  /** Whether nothing of it is to be entered now. */
  isFolded: boolean
}

/** What forms of registrars ask for, in their order, with a button that copies each. */
export function Registrar({ security: { keys, nameservers, delegation, rollover }, isFolded }: Props) {
  const { add_ds: added = [], remove_ds: removed = [] } = rollover ?? {}
  // While a key is replaced, the parent zone shall have only the DS record of the new one.
  const wanted = added.length === 0 ? keys : keys.filter(({ ds }) => ds.some((text) => added.includes(text)))
  const names = <Parts parts={partsOfNames(nameservers)} whole={nameservers.join(' ')} what="the nameservers" />
  const isDelegated = !NEED_NAMESERVERS.includes(delegation.state)
  return (
    <Panel title="What to enter at your registrar" isFolded={isFolded}>
      {!isDelegated && (
        <>
          <h3>The nameservers</h3>
          {names}
        </>
      )}
      <h3>{removed.length === 0 ? 'The DS record' : 'The new DS record'}</h3>
      {wanted.length === 0 && <p>The keys are not known yet. Try again in a few minutes.</p>}
      {wanted.map(({ dnskey, ds }) => (
        <div key={dnskey}>
          <DsRecords records={ds} />
          <details>
            <summary>My registrar wants the public key instead</summary>
            <Parts parts={partsOfDnskey(dnskey)} whole={dnskey} what="the key" />
          </details>
        </div>
      ))}
      {removed.length > 0 && (
        <>
          <h3>Then remove the former ones</h3>
          <ul>
            {removed.map((record) => (
              <li key={record}>
                <code>{record}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      {isDelegated && (
        <details>
          <summary>The nameservers</summary>
          {names}
        </details>
      )}
      <details>
        <summary>Does the parent zone take this by itself?</summary>
        <p>
          The service publishes it as CDS and CDNSKEY records of the domain. Some parent zones read these, and need no
          registrar: then this page says that the domain is secure without your help.
        </p>
      </details>
    </Panel>
  )
}

/** What the parent zone lacks, where it is one of the own domains. */
export function OwnParent({ security: { missing, delegation } }: Pick<Props, 'security'>) {
  const parent = delegation.parent!
  const lines = zoneLines(parent, missing)
  const add = () => {
    stageElsewhere(
      parent,
      missing.map(({ subname, type, ...after }) => ({ subname, type, base: null, after })),
    )
    navigate(`domains/${parent}`)
  }
  return (
    <Panel title={`What to add to ${parent}`}>
      <pre tabIndex={0} aria-label="Records to add" role="region">
        {lines}
      </pre>
      <p class="buttons">
        <button class="main" onClick={add}>
          Add to {parent}
        </button>
        <Copy text={lines} what="the records" isNamed />
      </p>
    </Panel>
  )
}
