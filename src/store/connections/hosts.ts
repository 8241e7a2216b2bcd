import pg from 'pg'
import { reasonOf } from '../../errors.ts'
import { SEARCH_TIME } from '../../limits.ts'
import { isUnavailable, notPrimary } from './failures.ts'
import { FormerPrimary, requirePrimary } from './session.ts'

// URLs with several hosts, of which one is the primary. libpq understands them, the driver does not.

/** One server of a URL. */
interface Host {
  host: string
  port: string
  /** The URL with this server alone. */
  url: string
}

/** The servers of `postgres://user@h1:5432,h2:5432/db`, or of `…?host=h1,h2&port=5432,5432`, as libpq reads them. */
export function hostsOf(url: string): [Host, ...Host[]] {
  const [, scheme = '', authority = '', rest = ''] = /^(\w+:\/\/)([^/?#]*)(.*)$/s.exec(url) ?? []
  const user = authority.slice(0, authority.lastIndexOf('@') + 1)
  const places = authority.slice(user.length).split(',')
  const parsed = new URL(`${scheme}${user}${places[0]}${rest}`)
  const named = parsed.searchParams.get('host')?.split(',')
  const ports = parsed.searchParams.get('port')?.split(',') ?? []
  const hosts = (named ?? places).map((place, i) => {
    const each = new URL(`${scheme}${user}${named === undefined ? place : places[0]}${rest}`)
    const port = (ports.length > 1 ? ports[i] : ports[0]) ?? each.port
    if (named !== undefined) each.searchParams.set('host', place)
    if (port !== '' && (named !== undefined || ports.length > 0)) each.searchParams.set('port', port)
    const name = decodeURIComponent(each.hostname.replace(/^\[(.*)\]$/, '$1'))
    return { host: named === undefined ? name : place, port: port === '' ? '5432' : port, url: each.href }
  })
  return hosts as [Host, ...Host[]]
}

/** The searches for the primary that run, by URL: connections that begin meanwhile share them. */
const searches = new Map<string, Promise<Host>>()

/** The URLs whose servers have all been asked. */
const explored = new Set<string>()

/** The server that is the primary now. @throws an error for which `isUnavailable` holds, or a lasting one */
async function primaryOf(url: string): Promise<Host> {
  const running = searches.get(url)
  if (running !== undefined) return running
  const search = searchPrimary(url).finally(() => searches.delete(url))
  searches.set(url, search)
  return search
}

async function searchPrimary(url: string): Promise<Host> {
  const hosts = hostsOf(url)
  // Several may say that they are the primary. The process learns from their answers which of them is the newest.
  if (!explored.has(url)) await Promise.allSettled(hosts.map(ask))
  const primary = await firstPrimary(hosts)
  explored.add(url)
  return primary
}

/** Asks all servers at once, because one that is gone may not even refuse. */
async function firstPrimary(hosts: Host[]): Promise<Host> {
  return Promise.any(hosts.map(ask)).catch((error: unknown) => {
    const { errors } = error as AggregateError
    // A wrong password, for example, does not mend by itself.
    const lasting = errors.find((each) => !isUnavailable(each)) as Error | undefined
    if (lasting !== undefined) throw lasting
    const reasons = errors.map((each, i) => `${placeOf(hosts[i]!)}: ${reasonOf(each)}`)
    throw notPrimary(`no server is the primary (${reasons.join('; ')})`)
  })
}

/**
 * The servers that say they are the primary, although a standby has replaced them: they are not used. None if the URL names
 * one server, which may be a balancer: connections learn what is behind it.
 */
export async function formerPrimaries(url: string): Promise<string[]> {
  const hosts = hostsOf(url)
  if (hosts.length === 1) return []
  const answers = await Promise.allSettled(hosts.map(ask))
  const isFormer = (answer: PromiseSettledResult<Host>) =>
    answer.status === 'rejected' && answer.reason instanceof FormerPrimary
  return hosts.filter((_, i) => isFormer(answers[i]!)).map(placeOf)
}

function placeOf({ host, port }: Host): string {
  return `${host}:${port}`
}

/** @throws an error for which `isUnavailable` holds if the server is not the primary, or a lasting one */
async function ask(host: Host): Promise<Host> {
  const client = new pg.Client({
    connectionString: host.url,
    connectionTimeoutMillis: SEARCH_TIME,
    query_timeout: SEARCH_TIME,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await requirePrimary(client)
    return host
  } finally {
    // Not awaited: a server that hangs would not answer this, either.
    void client.end().catch(() => undefined)
  }
}

/** The URL of the primary alone; the URL itself if it names one server. Errors are those of a connection. */
export async function primaryUrl(url: string): Promise<string> {
  return hostsOf(url).length === 1 ? url : (await primaryOf(url)).url
}

/** What a pool connects with: the driver, which finds the primary first if the URL names several servers. */
export function connector(url: string): { connectionString: string; Client?: new () => pg.ClientBase } {
  const [first, ...others] = hostsOf(url)
  if (others.length === 0) return { connectionString: url }

  class PrimaryClient extends pg.Client {
    override connect(): Promise<pg.Client>
    override connect(callback: (error: Error | null) => void): void
    override connect(callback?: (error: Error | null) => void): unknown {
      const finding = primaryOf(url).then(({ host, port }) => Object.assign(this, { host, port: Number(port) }))
      if (callback === undefined) return finding.then(() => super.connect())
      // The driver calls the pool back in the moment in which the session begins: then the pool hears of its end, too.
      finding.then(() => {
        super.connect(callback)
      }, callback)
      return undefined
    }
  }

  return { connectionString: first.url, Client: PrimaryClient }
}
