import createClient, { type Client } from 'openapi-fetch'
import type { paths } from './schema.mts'

export type { components, operations, paths, webhooks } from './schema.mts'

/**
 * A client of the API. Its methods take paths of the document, such as `GET('/api/v1/domains/')`.
 * @param url the server's, without a path
 * @param token the secret of a token; none for what needs none
 */
export function zoneplane(url: string, token?: string): Client<paths> {
  return createClient<paths>({
    baseUrl: url,
    headers: token === undefined ? {} : { Authorization: `Token ${token}` },
  })
}
