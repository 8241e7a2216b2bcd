import { mayDelete } from '../api/me.ts'
import { location } from '../router.ts'

const TABS = [
  ['', 'Records'],
  ['/history', 'History'],
  ['/dnssec', 'DNSSEC'],
  ['/nameservers', 'Nameservers'],
  ['/zonefile', 'Zone file'],
  ['/delete', 'Delete'],
] as const

/** The heading of a domain's pages, and the links between those that the token can use. */
export function DomainHeader({ name }: { name: string }) {
  const { path } = location.value
  return (
    <div class="domain-header">
      <h1 tabIndex={-1}>{name}</h1>
      <nav aria-label={name}>
        {TABS.map(([part, text]) => {
          if (part === '/delete' && !mayDelete(name)) return null
          const to = `domains/${name}${part}`
          return (
            <a key={part} href={to} aria-current={to === path ? 'page' : undefined}>
              {text}
            </a>
          )
        })}
      </nav>
    </div>
  )
}
