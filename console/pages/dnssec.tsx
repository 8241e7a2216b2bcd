import { mayDelete } from '../api/me.ts'
import { outlookOf } from '../dnssec/outlook.ts'
import { OutlookCard } from '../dnssec/outlook-card.tsx'
import { OwnParent, Registrar } from '../dnssec/registrar.tsx'
import { NewRollover, Rollover } from '../dnssec/rollover.tsx'
import { securityOf } from '../dnssec/security.ts'
import { domainChanged } from '../domains/domain-header.tsx'
import { Loaded, useAsked } from '../kit/loading.tsx'

/** What is left to do until a domain is secure, what to give to the registrar, and the replacement of its key. */
export function DnssecPage({ name }: { name: string }) {
  const asked = useAsked(() => securityOf(name), [name])
  const reload = () => {
    asked.reload()
    domainChanged()
  }
  return (
    <Loaded asked={asked}>
      {(security) => {
        const { domain, delegation, rollover, missing } = security
        const isSuspended = domain.suspended !== undefined
        const outlook = outlookOf({ check: delegation, isSuspended, rollover, isParentOwn: missing.length > 0 })
        return (
          <>
            <OutlookCard name={name} security={security} outlook={outlook} onChecked={reload} />
            {rollover !== null && <Rollover name={name} rollover={rollover} onChanged={reload} />}
            {missing.length > 0 ? (
              <OwnParent security={security} />
            ) : (
              <Registrar security={security} isFolded={outlook.actor !== 'you'} />
            )}
            {rollover === null && mayDelete(name) && <NewRollover name={name} onBegun={reload} />}
          </>
        )
      }}
    </Loaded>
  )
}
