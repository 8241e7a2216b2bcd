import type * as openid from 'openid-client'

/** Octets of the largest answer of the issuer that is read. */
const ANSWER_OCTETS = 1024 * 1024

/** Fetches, and reads at most ANSWER_OCTETS of the answer. */
export async function fetchBounded(url: string, options: openid.CustomFetchOptions): Promise<Response> {
  const response = await fetch(url, options as RequestInit)
  if (response.body === null) return response
  let octets = 0
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      octets += chunk.length
      if (octets > ANSWER_OCTETS) controller.error(new TypeError('the answer is too large'))
      else controller.enqueue(chunk)
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(counted), { status, statusText, headers })
}
