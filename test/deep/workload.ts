import type { Answer, Client } from '../support/clients/client.ts'
import { Mismatch } from '../support/clients/description.ts'
import { eventually } from '../support/eventually.ts'

/** A domain and its state: the one acknowledged last, and one that a write without answer may have produced. */
interface Actor {
  domain: string
  /** The address of `www`; `none` if the RRset does not exist, `absent` if the domain does not exist. */
  acknowledged: string
  tried: string | undefined
}

/** Clients that write as fast as they can, each to its own domain, and remember what was acknowledged. */
export interface Workload {
  /** Runs until every actor has lost a connection, or `stop` is called; resolves with unexpected answers. */
  run(api: Client): Promise<string[]>
  stop(): void
  /** The acknowledged writes that are lost. From then on the present state counts as acknowledged. */
  broken(api: Client): Promise<string[]>
  /** How many writes were acknowledged, how many answered 503, and how many of these had an unknown outcome. */
  counts: { acknowledged: number; refused: number; unknown: number }
  /** Waits until so many more are acknowledged. */
  acknowledged(count: number): Promise<void>
}

/** Actors that change an RRset of a permanent domain, and actors that create and delete their domain repeatedly. */
export function createWorkload(prefix: string, writers: number, creators: number): Workload {
  const actor = (kind: string) => (_: unknown, i: number) => ({
    domain: `${prefix}-${kind}-${i}.example`,
    acknowledged: 'absent',
    tried: undefined,
  })
  const changing: Actor[] = Array.from({ length: writers }, actor('write'))
  const creating: Actor[] = Array.from({ length: creators }, actor('create'))
  const counts = { acknowledged: 0, refused: 0, unknown: 0 }
  let isRunning = false
  let number = 0

  /** Sends one write; returns false if the connection was lost. */
  async function step(api: Client, actor: Actor, next: string, wrong: string[]): Promise<boolean> {
    actor.tried = next
    let answer: Answer
    try {
      answer = await send(api, actor, next)
    } catch (error) {
      if (error instanceof Mismatch) throw error
      return false
    }
    const { status, text } = answer
    if (status === 503 && text.includes('unknown')) {
      counts.unknown++
      const state = await lookInTheEnd(api, actor)
      if (state !== actor.acknowledged && state !== next) wrong.push(`${actor.domain}: ${state} after ${text}`)
      actor.acknowledged = state
    }
    actor.tried = undefined
    if (status >= 200 && status < 300) {
      actor.acknowledged = next
      counts.acknowledged++
    } else if (status === 503) counts.refused++
    else wrong.push(`${actor.domain}: ${status} to ${actor.acknowledged} → ${next}`)
    return true
  }

  function nextState({ acknowledged }: Actor, isCreator: boolean): string {
    if (acknowledged === 'absent') return 'none'
    if (isCreator) return 'absent'
    number++
    return number % 4 === 0 && acknowledged !== 'none' ? 'none' : `198.51.${(number >> 8) & 255}.${number & 255}`
  }

  async function act(api: Client, actor: Actor, isCreator: boolean, wrong: string[]): Promise<void> {
    while (isRunning && (await step(api, actor, nextState(actor, isCreator), wrong)));
  }

  return {
    counts,
    async acknowledged(count) {
      const enough = counts.acknowledged + count
      await eventually(() => counts.acknowledged >= enough)
    },
    async run(api) {
      isRunning = true
      const wrong: string[] = []
      await Promise.all([
        ...changing.map((actor) => act(api, actor, false, wrong)),
        ...creating.map((actor) => act(api, actor, true, wrong)),
      ])
      return wrong
    },
    stop() {
      isRunning = false
    },
    async broken(api) {
      const found: string[] = []
      for (const actor of [...changing, ...creating]) {
        const state = await look(api, actor)
        if (state !== actor.acknowledged && state !== actor.tried) {
          found.push(`${actor.domain} is ${state}, not ${actor.acknowledged} or ${actor.tried ?? 'anything else'}`)
        }
        Object.assign(actor, { acknowledged: state, tried: undefined })
      }
      return found
    },
  }
}

function send(api: Client, { domain, acknowledged }: Actor, next: string) {
  if (next === 'absent') return api.delete(`/domains/${domain}/`)
  if (acknowledged === 'absent') return api.post('/domains/', { name: domain })
  const rrset = { subname: 'www', type: 'A', ttl: 300, records: [next] }
  if (acknowledged === 'none') return api.post(`/domains/${domain}/rrsets/`, rrset)
  if (next === 'none') return api.delete(`/domains/${domain}/rrsets/www/A/`)
  return api.put(`/domains/${domain}/rrsets/www/A/`, rrset)
}

async function look(api: Client, { domain }: Actor): Promise<string> {
  const rrsets = await api.get(`/domains/${domain}/rrsets/?type=A`)
  if (rrsets.status === 404) return 'absent'
  if (rrsets.status !== 200) return `${rrsets.status} ${rrsets.text}`
  const [rrset] = rrsets.json as { records: string[] }[]
  return rrset?.records[0] ?? 'none'
}

/** The state once it can be read again. */
async function lookInTheEnd(api: Client, actor: Actor): Promise<string> {
  let state = ''
  await eventually(async () => {
    state = await look(api, actor)
    return !state.startsWith('503 ')
  })
  return state
}
