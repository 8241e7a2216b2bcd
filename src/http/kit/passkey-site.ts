import { isIP } from 'node:net'
import { Denied } from '../../errors.ts'
import type { Site } from '../../service/passkeys/webauthn.ts'
import { parsedUrl } from './caller.ts'
import type { AppContext } from './context.ts'

/** The text for requests at other addresses. */
export const NO_SITE = 'Passkeys cannot be used at this address of the service.'

/** Returns where passkeys are valid, by the address of the service (contract §12.1); undefined if nowhere. */
export function siteOf(ctx: AppContext): Site | undefined {
  const { protocol, hostname, origin } = parsedUrl(ctx)
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  // Whoever chooses the Host of a request chooses no site, and browsers know no passkeys of addresses, or without TLS.
  const isPublic = ctx.state.system.config.publicUrl !== undefined && protocol === 'https:'
  const isName = isIP(hostname) === 0 && !hostname.startsWith('[')
  return isLocal || (isPublic && isName) ? { id: hostname, origin } : undefined
}

/** @throws Denied if passkeys are valid nowhere */
export function requiredSite(ctx: AppContext): Site {
  const site = siteOf(ctx)
  if (site === undefined) throw new Denied(NO_SITE)
  return site
}
