import type { OwnToken } from '../api/me.ts'
import { Icon } from '../kit/icons.tsx'

const STEPS = [
  {
    to: 'new-domain',
    icon: 'domains',
    title: 'Add a domain',
    text: 'Type its name. It is in DNS, and signed, as soon as you have added it.',
    right: 'perm_create_domain',
  },
  {
    to: 'new-domain?zonefile',
    icon: 'import',
    title: 'Import a zone file',
    text: 'Bring the records that another provider has. You see them, and each mistake, before anything happens.',
    right: 'perm_create_domain',
  },
  {
    to: 'tokens/new',
    icon: 'tokens',
    title: 'Make a token for a program',
    text: 'For certificates, a router or Terraform: each program gets a token that may do only what it needs.',
    right: 'perm_manage_tokens',
  },
] as const

/** What one can do with an account that has no domains, as far as the token may. */
export function FirstSteps({ token }: Pick<OwnToken, 'token'>) {
  const steps = STEPS.filter(({ right }) => token[right])
  return (
    <>
      <p>No domains yet.{steps.length > 0 && ' Begin with one of these:'}</p>
      <ul class="first-steps" hidden={steps.length === 0}>
        {steps.map(({ to, icon, title, text }) => (
          <li key={to}>
            <a href={to}>
              <Icon of={icon} />
              <b>{title}</b>
              <span>{text}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}
