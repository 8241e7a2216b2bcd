import { Conflict, Invalid, unlessNotFound } from '../../errors.ts'
import * as creation from '../../service/domains/creation.ts'
import type { Domain } from '../../service/domains/domains.ts'
import * as domains from '../../service/domains/domains.ts'
import { exportIn, exportZone as exportText } from '../../service/domains/zonefiles.ts'
import { amend } from '../../service/doors/amendments.ts'
import { cryptokeysOf } from '../../service/doors/cryptokeys.ts'
import { nsec3OfNew, soaOf, viewOf } from '../../service/doors/zone-views.ts'
import { EXISTS } from '../../service/names/availability.ts'
import { tagOfDomain } from '../../service/rrsets/conditions.ts'
import { answer, answerEmpty, answerStream, joinReaders } from '../kit/answer.ts'
import { parsedUrl } from '../kit/caller.ts'
import { type Context, flag, parameter } from '../kit/context.ts'
import { answerWrite, conditions, setTag, terms } from '../kit/terms.ts'
import { CRYPTOKEY } from './cryptokey-representation.ts'
import { domainOf, isAbsolute, subnameIn } from './zone-names.ts'
import { ZONE, ZONE_RRSET } from './zone-representation.ts'
import { examineSettings, readAmendments, readZone } from './zone-requests.ts'

/** Returns the name of the domain in the path. */
export function zoneInPath(ctx: Context): string {
  return domainOf(ctx.params['zone']!)
}

export async function listZones(ctx: Context): Promise<void> {
  const name = parameter(ctx, 'zone')
  if (name !== undefined && !isAbsolute(name)) throw Invalid.field('zone', 'must be an absolute name')
  const isPlain = parameter(ctx, 'dnssec') === 'false'
  await joinReaders(ctx)
  await answerStream(ctx, 200, 'application/json', () => listing(ctx, name, isPlain))
}

/** Prints all zones, page by page, or the one of a name. */
async function* listing({ state }: Context, name: string | undefined, isPlain: boolean): AsyncGenerator<string> {
  let separator = '['
  const one = name === undefined ? undefined : await domains.get(state, domainOf(name)).catch(unlessNotFound)
  for await (const page of name === undefined ? domains.pages(state) : [one === undefined ? [] : [one]]) {
    const zones = page.map((domain) => {
      const { dnssec, edited_serial, ...zone } = ZONE.present(viewOf(state.system, domain))
      return JSON.stringify(isPlain ? zone : { ...zone, dnssec, edited_serial })
    })
    if (zones.length === 0) continue
    yield separator + zones.join()
    separator = ','
  }
  yield separator === '[' ? '[]' : ']'
}

export async function createZone(ctx: Context): Promise<void> {
  const { system, actor, body } = ctx.state
  // Before anything is created.
  flag(ctx, 'rrsets', true)
  const input = await readZone(body(), nsec3OfNew(system))
  const domain = await creation.create(system, actor, input).catch((error: unknown) => {
    throw isTaken(error) ? new Conflict('Conflict') : error
  })
  Object.assign(ctx.state, { domain, version: domain.version })
  // The zone is created: a later failure must not look like that of its creation.
  await answerZone(ctx, 201, domain).catch(() => {
    answer(ctx, 201, ZONE.presentFull(viewOf(system, domain)))
  })
}

function isTaken(error: unknown): boolean {
  return error instanceof Invalid && !Array.isArray(error.problems) && error.problems['name']?.includes(EXISTS) === true
}

export async function showZone(ctx: Context): Promise<void> {
  const { domain } = ctx.state
  await answerZone(ctx, 200, domain)
  setTag(ctx, tagOfDomain(domain))
}

/** Responds with a zone, and its RRsets, unless the query leaves them out. */
async function answerZone(ctx: Context, status: number, domain: Domain): Promise<void> {
  const { system } = ctx.state
  const zone = ZONE.presentFull(viewOf(system, domain))
  const isWhole = flag(ctx, 'rrsets', true)
  const name = parameter(ctx, 'rrset_name')
  const type = name === undefined ? undefined : parameter(ctx, 'rrset_type')?.toUpperCase()
  if (!isWhole) {
    answer(ctx, status, zone)
    return
  }
  // No RRset has a subname with a blank. The database cannot be asked for a NUL.
  const isPossible = isAbsolute(name) && type?.includes('\0') !== true
  const subname = name === undefined ? undefined : isPossible ? (subnameIn(domain.name, name) ?? ' ') : ' '
  let separator = ''
  const print = (rrset: Parameters<typeof ZONE_RRSET.present>[0]) => {
    const text = separator + JSON.stringify(ZONE_RRSET.present(rrset, domain))
    separator = ','
    return text
  }
  const form = {
    head: (version: number) => {
      const hasSoa = (subname ?? '') === '' && (type ?? 'SOA') === 'SOA'
      return `${JSON.stringify(zone).slice(0, -1)},"rrsets":[${hasSoa ? print(soaOf(system, domain, version)) : ''}`
    },
    rrset: print,
    tail: ']}',
  }
  await answerStream(ctx, status, 'application/json', (breakOff) =>
    exportIn({ ...ctx.state, domain }, form, breakOff, { subname, type: isPossible ? type : undefined }),
  )
}

export async function changeZone(ctx: Context): Promise<void> {
  const asked = terms(ctx)
  const { domain, body } = ctx.state
  await answerWrite(ctx, await amend(ctx.state, await readAmendments(body(), domain.name), asked), asked)
}

export function keepSettings(ctx: Context): void {
  const { system, domain, body } = ctx.state
  examineSettings(body(), viewOf(system, domain))
  answerEmpty(ctx, 204)
}

export async function deleteZone(ctx: Context): Promise<void> {
  await domains.remove(ctx.state, ctx.state.domain.name, conditions(ctx))
  answerEmpty(ctx, 204)
}

/** Responds with a zone file; in an object to clients that accept JSON, as PowerDNS does. */
export async function exportZone(ctx: Context): Promise<void> {
  const { hostname } = parsedUrl(ctx)
  const isJson = /application\/json|\*\/\*/.test(ctx.get('Accept'))
  await answerStream(ctx, 200, isJson ? 'application/json' : 'text/plain', (breakOff) => {
    const parts = exportText(ctx.state, hostname, breakOff)
    return isJson ? inObject(parts) : parts
  })
}

async function* inObject(parts: AsyncIterable<string>): AsyncGenerator<string> {
  let text = '{"zone":"'
  for await (const part of parts) {
    yield text + JSON.stringify(part).slice(1, -1)
    text = ''
  }
  yield '"}'
}

export async function listCryptokeys(ctx: Context): Promise<void> {
  const { system, domain } = ctx.state
  const keys = await cryptokeysOf(system, domain)
  const shown = keys.map((key) => CRYPTOKEY.present(key))
  answer(ctx, 200, shown)
}

/** Responds that a zone is rectified, or that its servers are told: after every change, both is done already. */
export function confirm(text: string) {
  return function confirmDone(ctx: Context): void {
    answer(ctx, 200, { result: text })
  }
}
