import { lookUp } from '../dns/dns.ts'
import type { TestService } from '../harness.ts'
import type { Answer, Client } from './client.ts'

/** The header of Basic authentication. */
export function basic(user: string, secret: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}` }
}

/** Sends an update with these parameters; a string is sent unchanged. */
export function update(
  client: Client,
  parameters: Record<string, string> | string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const query = typeof parameters === 'string' ? parameters : new URLSearchParams(parameters).toString()
  return client.get(`//root/nic/update?${query}`, { headers })
}

/** Status and text of an answer: all that clients of this protocol evaluate. */
export function told({ status, text }: Answer): [number, string] {
  return [status, text]
}

/** The addresses at a name as the API shows them: `A,A AAAA`, each family sorted. */
export async function addresses(api: Client, domain: string, subname: string): Promise<string> {
  const families = await Promise.all(
    ['A', 'AAAA'].map(async (type) => {
      const { status, json } = await api.get(`/domains/${domain}/rrsets/${subname || '@'}/${type}/`)
      return status === 404 ? [] : (json as { records: string[] }).records.sort()
    }),
  )
  return families.map((records) => records.join()).join(' ')
}

/** The addresses at a name as DNS answers them, in the same form. */
export async function served({ powerDns }: TestService, name: string): Promise<string> {
  const families = await Promise.all(['A', 'AAAA'].map((type) => lookUp(powerDns, name, type)))
  return families.map((records) => records.join()).join(' ')
}
