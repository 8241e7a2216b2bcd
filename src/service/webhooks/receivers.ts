import { constants } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type Network, overlap, parseNetwork } from '../../dns/addresses.ts'
import type { Config } from '../../settings/config.ts'
import type { Delivery } from '../../store/zone/webhook-deliveries.ts'
import { isPublic } from '../domains/transfers.ts'

// Receivers are strangers' servers: users must not use the service to reach what they cannot reach themselves (contract §22.5).

/** Characters of a URL. */
const URL_LENGTH = 2_000

/** Milliseconds that a receiver has, from the resolution of its name to the header of its answer, and the octets of that. */
const TIME = 10_000
const HEADER_OCTETS = 16 * 1024

/** How many addresses of a name are tried, of each family. */
const ADDRESSES = 4

const FORM = 'Must be an https URL without user, password and fragment, such as https://hooks.example.com/dns.'
const NOT_PUBLIC = 'Must have a public address.'

/** Returns a URL in the spelling of WHATWG URL, or why no receiver may have it. */
export function readUrl(config: Config, text: string): { url: string } | { problem: string } {
  // Neither what WHATWG URL repairs silently, nor what other readers take for something else.
  const isPlain = /^https?:\/\/[^/?#@\\\s\p{C}]+([/?][^#\\\s\p{C}]*)?$/iu.test(text)
  if (text.length > URL_LENGTH || !isPlain || !URL.canParse(text)) return { problem: FORM }
  const url = new URL(text)
  if (!protocols(config).includes(url.protocol)) return { problem: FORM }
  const { hostname, port } = url
  if (hostname.endsWith('.')) return { problem: 'Must not have a final dot in its name.' }
  if (url.protocol === 'https:' && port !== '' && Number(port) < 1024) {
    return { problem: 'Must have the port 443, or one from 1024 on.' }
  }
  const address = addressIn(url)
  return address === undefined || mayReach(config, url, address) ? { url: url.href } : { problem: NOT_PUBLIC }
}

function protocols({ webhookNetworks }: Config): string[] {
  return webhookNetworks.length > 0 ? ['https:', 'http:'] : ['https:']
}

/** Returns the address that a URL has instead of a name, if it does. */
function addressIn({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) === 0 ? undefined : bare
}

/**
 * Reports whether a receiver may be at an address: a public one of another machine, but not without TLS, or one that the
 * operator allows.
 */
function mayReach({ webhookNetworks }: Config, { protocol }: URL, address: string): boolean {
  const network = parseNetwork(address)
  if (webhookNetworks.some((each) => overlap(parseNetwork(each), network))) return true
  return protocol === 'https:' && isPublic(network) && !isOwn(network)
}

/** Reports whether this machine has an address: a firewall lets pass what the machine sends to itself. */
function isOwn({ octets }: Network): boolean {
  const own = Object.values(networkInterfaces()).flatMap((each = []) => each)
  return own.some(({ address }) => parseNetwork(address).octets === octets)
}

/** What came of a request. The problem is in words of ours, which tell nothing of our network. */
export type Answer = Pick<Delivery, 'answer' | 'problem'>

/**
 * Sends a request to a receiver, at an address that its name has now and that it may have. Of the answer, the header alone is
 * read; redirects are not followed.
 * @param signal aborts when the process stops
 * @throws Error only then: it is unknown what came of it
 */
export async function post(
  config: Config,
  { url: href, headers, body }: { url: string; headers: Record<string, string>; body: string },
  signal: AbortSignal,
): Promise<Answer> {
  const deadline = AbortSignal.timeout(TIME)
  const ended = AbortSignal.any([signal, deadline])
  try {
    const url = new URL(href)
    const allowed = await allowedAddresses(config, url, ended)
    if (allowed.length === 0) return { answer: null, problem: 'The receiver has no public address.' }
    const answer = await send(url, allowed, { headers, body, signal: ended })
    return { answer, problem: problemOf(answer) }
  } catch (error) {
    signal.throwIfAborted()
    return {
      answer: null,
      problem: deadline.aborted ? 'There was no answer within 10 seconds.' : wordsFor(error as Error),
    }
  }
}

async function allowedAddresses(config: Config, url: URL, signal: AbortSignal): Promise<string[]> {
  const literal = addressIn(url)
  const families = literal === undefined ? await resolve(config, url.hostname, signal) : [[literal]]
  // A name can have thousands, of as many victims.
  return families.flatMap((found) => found.filter((address) => mayReach(config, url, address)).slice(0, ADDRESSES))
}

/**
 * Resolves a name without the machine's list of hosts, and without a thread that slow nameservers could keep.
 * @returns the addresses of each family
 */
async function resolve({ resolvers }: Config, name: string, signal: AbortSignal): Promise<string[][]> {
  const resolver = new Resolver()
  if (resolvers.length > 0) {
    resolver.setServers(
      resolvers.map(({ address, port }) => `${isIP(address) === 6 ? `[${address}]` : address}:${port}`),
    )
  }
  const cancel = () => {
    resolver.cancel()
  }
  signal.addEventListener('abort', cancel)
  try {
    const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    signal.throwIfAborted()
    return found.map((each) => (each.status === 'fulfilled' ? each.value : []))
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** Returns the status of the answer. @throws Error without one */
async function send(
  url: URL,
  addresses: string[],
  { headers, body, signal }: { headers: Record<string, string>; body: string; signal: AbortSignal },
): Promise<number> {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  const lookup: LookupFunction = (_name, { all }, callback) => {
    if (all === true) callback(null, found)
    else callback(null, found[0]!.address, found[0]!.family)
  }
  const octets = Buffer.from(body)
  const options = {
    method: 'POST',
    headers: { ...headers, 'content-length': octets.length },
    ...{ agent: false, lookup, signal, maxHeaderSize: HEADER_OCTETS },
    // Whatever NODE_TLS_REJECT_UNAUTHORIZED says; and receivers could ask for handshakes again and again.
    ...{ rejectUnauthorized: true, secureOptions: constants.SSL_OP_NO_RENEGOTIATION },
  } as const
  return new Promise((resolved, rejected) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options, (response) => {
      resolved(response.statusCode!)
      request.destroy()
    })
    // Answers 1xx and empty lines may come before the header without end.
    let length = 0
    request.on('socket', (socket) => {
      socket.on('data', (part: Buffer) => {
        length += part.length
        if (length > HEADER_OCTETS) request.destroy(new Error('The header does not come.'))
      })
    })
    request.on('error', rejected)
    request.on('close', () => {
      rejected(new Error('closed'))
    })
    request.end(octets)
  })
}

function problemOf(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status === 410) return 'The receiver is gone (410).'
  return status >= 300 && status < 400
    ? 'The receiver redirects, which is not followed.'
    : `The receiver answered ${status}.`
}

function wordsFor({ code = '' }: Error & { code?: string }): string {
  if (code === 'ECONNREFUSED') return 'The connection was refused.'
  if (/CERT|TLS|SSL|SIGN|ISSUER/.test(code)) return 'TLS failed: is the certificate valid for this name?'
  return 'The connection failed.'
}
