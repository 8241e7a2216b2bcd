import { useMemo } from 'preact/hooks'
import { API, api, askWhole, Refused, versionOf } from '../api/client.ts'
import { readDomain } from '../api/domains.ts'
import { me } from '../api/me.ts'
import { lossesBy } from '../model/advice.ts'
import { curlCommand } from '../model/curl.ts'
import { bulkBody, type Edits, type Item, type RRsets } from '../model/draft.ts'
import { forbids, mayWrite } from '../model/may-write.ts'
import { problemsByPlace } from '../model/problems.ts'
import { type Change, counted, rrsetKey } from '../model/rrset.ts'
import { Copy } from '../parts/copy.tsx'
import { Review } from '../parts/review.tsx'

interface PublishProps {
  domain: string
  edits: Edits
  /** The RRsets that the edits change. */
  rrsets: RRsets
  /** The domain's ETag. */
  tag: string
  /** Called when the service refuses some edits, with their problems by place. */
  onRefused: (problems: ReadonlyMap<string, string[]>) => void
  /** Called when somebody else has changed the domain meanwhile. */
  onStale: () => void
  /** Called with the version, if the write has published one. */
  onApplied: (version: number | undefined) => void
  onClose: () => void
}

/** Reviews the staged edits, and applies them with one request. */
export function Publish({ domain, edits, rrsets, tag, onRefused, onStale, onApplied, onClose }: PublishProps) {
  const items = bulkBody(edits)
  const headers = { 'If-Match': tag }
  const send = (isTrial: boolean) =>
    api.PATCH('/api/v1/domains/{name}/rrsets/', {
      params: { path: { name: domain }, query: { dry_run: isTrial ? 'true' : 'false' }, header: headers },
      body: items,
    })
  /** Sends all, and brings problems of some edits back to their rows. */
  const attempt = async (isTrial: boolean) => {
    try {
      return await askWhole(send(isTrial))
    } catch (reason) {
      if (!(reason instanceof Refused)) throw reason
      // Validation comes before the condition: an edit may be wrong only because of what somebody else has changed.
      if (reason.status === 412 || (reason.status === 400 && (await readDomain(domain)).tag !== tag)) {
        onStale()
        throw reason
      }
      const problems = reason.status === 403 ? forbiddenAmong(domain, items) : problemsByPlace(items, reason.body)
      if (problems !== undefined && problems.size > 0) onRefused(problems)
      throw reason
    }
  }
  const losses = useMemo(() => lossesBy(edits, rrsets, domain), [])
  const command = curlCommand({
    method: 'PATCH',
    url: `${API}/api/v1/domains/${domain}/rrsets/`,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: items,
  })
  return (
    <Review
      title={`${counted(edits.size, 'change')} to ${domain}`}
      preview={async () => ((await attempt(true)).data as { changes: Change[] }).changes}
      apply={async () => {
        onApplied(versionOf((await attempt(false)).response))
      }}
      onClose={onClose}
    >
      {losses.map((text) => (
        <p key={text} class="note">
          {text}
        </p>
      ))}
      <details class="command">
        <summary>The same with curl</summary>
        <Copy text={command} what="the command" />
        <pre tabIndex={0}>{command}</pre>
      </details>
    </Review>
  )
}

/** The problems of the edits that the token may not make, by place. */
function forbiddenAmong(domain: string, items: Item[]): ReadonlyMap<string, string[]> {
  const forbidden = items.filter((item) => !mayWrite(me.value!.policies, { domain, ...item }).may)
  return new Map(forbidden.map((item) => [rrsetKey(item), [forbids(item)]]))
}
