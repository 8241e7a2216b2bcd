import { useMemo, useState } from 'preact/hooks'
import { API, api, askWhole, Refused, versionOf } from '../api/client.ts'
import { readDomain } from '../api/domains.ts'
import { changesWithin } from '../api/history.ts'
import { bearer, loadMe, me } from '../api/me.ts'
import { problemsByPlace } from '../api/problems.ts'
import { Copy } from '../kit/copy.tsx'
import { Checkbox } from '../kit/form.tsx'
import { refusedBy, useAsked } from '../kit/loading.tsx'
import { Review } from '../kit/review.tsx'
import { titleOf } from '../rrsets/rows.ts'
import { type Change, counted, type Place, rrsetKey } from '../rrsets/rrset.ts'
import { atMost, MAX_TTL } from '../rrsets/ttl.ts'
import { forbids, mayWrite } from '../tokens/may-write.ts'
import { sayWhy, why } from '../why.ts'
import { adviceBy, cachedFor, lossesBy } from './advice.ts'
import { curlCommand } from './curl.ts'
import { bulkBody, type Edits, type Item, type RRsets } from './draft.ts'

/** How much advice is shown: more is the same again. */
const MOST_ADVICE = 10

const TRIAL = { dry_run: 'true', ptr: 'propose' } as const

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
  /** Called with the version, if the write has published one, and with what of the PTR RRsets failed. */
  onApplied: (version: number | undefined, problem: string) => void
  onClose: () => void
  /** Called to add a record first that something in the edits needs. */
  onAdd: (place: Place) => void
}

/** A PTR RRset that would fit (contract §15.3). */
interface Proposal extends Change {
  domain: string
  etag: string
}

/** Reviews the staged edits, and applies them with one request. */
export function Publish({ domain, edits, rrsets, tag, ...on }: PublishProps) {
  const items = bulkBody(edits)
  const setSaid = useState({})[1]
  const headers = { 'If-Match': tag }
  const send = (isTrial: boolean) =>
    api.PATCH('/api/v1/domains/{name}/rrsets/', {
      params: { path: { name: domain }, query: isTrial ? TRIAL : { dry_run: 'false' }, header: headers },
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
        on.onStale()
        throw reason
      }
      // Rights may be others now than when the page was shown.
      if (reason.status === 403) await loadMe()
      const problems = reason.status === 403 ? forbiddenAmong(domain, items) : problemsByPlace(items, reason.body)
      if (problems !== undefined && problems.size > 0) on.onRefused(problems)
      throw reason
    }
  }
  const [proposals, setProposals] = useState<Proposal[]>([])
  const [ticked, setTicked] = useState<readonly Proposal[]>([])
  const losses = useMemo(() => lossesBy(edits, rrsets, domain), [])
  const advice = useMemo(() => adviceBy(edits, rrsets, domain), [])
  const cached = useAsked(
    async () => cachedFor(edits, await changesWithin(domain, MAX_TTL).catch(() => undefined)),
    [],
  ).value
  const count = counted(edits.size, 'change')
  const command = curlCommand({
    method: 'PATCH',
    url: `${API}/api/v1/domains/${domain}/rrsets/`,
    headers: { 'Content-Type': 'application/json', ...headers, ...(why() && { 'Zoneplane-Message': why() }) },
    body: items,
  })
  return (
    <Review
      title={`Review ${count} to ${domain}`}
      verb={`Apply ${count}`}
      preview={async () => {
        const { changes, ptr } = (await attempt(true)).data as { changes: Change[]; ptr: Proposal[] }
        setProposals(ptr)
        return changes
      }}
      apply={async () => {
        const said = why()
        const version = versionOf((await attempt(false)).response)
        on.onApplied(version, await carryOut(ticked, said))
      }}
      onWhy={() => {
        setSaid({})
      }}
      onClose={on.onClose}
      others={<Copy text={command} what="as curl" isNamed />}
    >
      {proposals[0] && <p>PTR that would fit:</p>}
      {proposals.map((each) => (
        <Checkbox
          key={titleOf(each) + each.domain}
          label={labelOf(each)}
          checked={ticked.includes(each)}
          onCheck={(isChecked) => {
            setTicked(isChecked ? [...ticked, each] : ticked.filter((other) => other !== each))
          }}
        />
      ))}
      {losses.map((text) => (
        <p key={text} class="note wait">
          {text}
        </p>
      ))}
      {advice.slice(0, MOST_ADVICE).map(({ text, lacking, ...place }) => (
        <p key={`${rrsetKey(place)} ${text}`} class="note">
          {titleOf(place)}: {text}{' '}
          {lacking !== undefined && mayWrite(me.value!.policies, { domain, ...lacking }).may && (
            <button
              type="button"
              class="small"
              onClick={() => {
                on.onAdd(lacking)
              }}
            >
              Add an address
            </button>
          )}
        </p>
      ))}
      {cached !== undefined && cached.changed > 0 && (
        <p class="quiet">Caches can keep the former records for up to {atMost(cached.changed)}.</p>
      )}
      {cached !== undefined && cached.lowered > 0 && (
        <p class="note">
          Wait {atMost(cached.lowered)} before you change the records whose TTL is lowered: until then, caches may still
          have them.
        </p>
      )}
      <details class="command">
        <summary>The same with curl</summary>
        <pre tabIndex={0}>{command}</pre>
      </details>
    </Review>
  )
}

function labelOf({ domain, subname, before, after }: Proposal): string {
  const [former, next] = [before, after].map((state) => state?.records.join(', ') ?? 'none')
  return `${subname}.${domain}: ${former} → ${next}`
}

/** Writes PTR RRsets, unless their domains have changed meanwhile. @returns what failed; else an empty text */
async function carryOut(proposals: readonly Proposal[], said: string): Promise<string> {
  const failed: string[] = []
  for (const name of new Set(proposals.map(({ domain }) => domain))) {
    const changes = proposals.filter(({ domain }) => domain === name)
    sayWhy(said)
    const body = changes.map(({ subname, type, after }) => ({ subname, type, records: [], ...after }))
    const params = { path: { name }, header: { 'If-Match': changes[0]!.etag } }
    await askWhole(api.PATCH('/api/v1/domains/{name}/rrsets/', { params, body })).catch((reason: unknown) => {
      failed.push(`PTR in ${name}: ${refusedBy(reason).message}`)
    })
  }
  return failed.join(' ')
}

/** The problems of the edits that the token may not make, by place. */
function forbiddenAmong(domain: string, items: Item[]): ReadonlyMap<string, string[]> {
  const forbidden = items.filter((item) => !mayWrite(me.value!.policies, { domain, ...item }).may)
  return new Map(forbidden.map((item) => [rrsetKey(item), [forbids(bearer(), item)]]))
}
