import type { Page, Request } from 'playwright-core'
import { newZone, rrset, succeeded } from '../clients/api.ts'
import { loginOf } from '../clients/members.ts'
import type { TestService } from '../harness.ts'

// The states of the console's pages: where the service itself cannot be brought to an answer, the browser is given it in the
// service's place.

/** A domain, a webhook, and a log-in and an API token that may do all with their account. */
export interface Site {
  domain: string
  tokenId: string
  secret: string
  accountId: string
}

export async function newSite(service: TestService): Promise<Site> {
  const zone = await newZone(service, rrset())
  const { id, tokenId } = zone.account
  const { api, secret } = await loginOf(service, id)
  const webhook = { url: 'https://hooks.example.com/dns', events: ['delegation'], domains: ['other.example'] }
  succeeded(await api.post('/webhooks/', webhook), 201)
  return { domain: zone.domain, tokenId, secret, accountId: id }
}

/** Answers these requests of the API with this status until `heal` is called; those about the session itself are not touched. */
export async function answering(page: Page, isTouched: (request: Request) => boolean, status: number): Promise<void> {
  await page.route('**/api/v1/**', (route) => {
    const request = route.request()
    if (!isTouched(request) || request.url().endsWith('/auth/token/')) return route.continue()
    return route.fulfill(refusal(status))
  })
}

/** An answer that refuses a request, in the words of the test. */
export function refusal(status: number) {
  return { status, headers: { 'retry-after': '60' }, json: { detail: `The test answers ${status}.` } }
}

/** Lets all requests pass again. */
export const heal = (page: Page) => page.unroute('**/api/v1/**')

export const isRead = (request: Request) => request.method() === 'GET'
export const isWrite = (request: Request) => !isRead(request)

/** Chooses a button. */
export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
