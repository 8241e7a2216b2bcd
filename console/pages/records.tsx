import { DomainHeader } from '../parts/domain-header.tsx'

/** The records of a domain. */
export function RecordsPage({ name }: { name: string }) {
  return <DomainHeader name={name} />
}
