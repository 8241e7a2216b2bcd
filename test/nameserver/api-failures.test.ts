import test from 'ava'
import { createServer } from 'node:http'
import { type FailureKind, NameserverFailure } from '../../src/errors.ts'
import { Api } from '../../src/nameserver/powerdns/api.ts'
import { listen } from '../support/servers/ports.ts'
import { GATEWAY_BODIES } from '../support/servers/proxy.ts'

// powerdns.md §2.2: an error is PowerDNS' own only in PowerDNS' form. After any other answer, the request can still come.

/** What PowerDNS' own errors tell; all other statuses are not its own. */
const OWN: Record<number, FailureKind> = {
  ...{ 400: 'failed', 401: 'failed', 403: 'failed', 404: 'absent', 405: 'failed' },
  ...{ 409: 'conflict', 422: 'refused', 500: 'failed' },
}

/** PowerDNS' texts: of a handler, of the status alone, and of several mistakes (5.1). */
const TEXTS = [
  '{"error":"Record www.a.test./A \'x\': bad"}',
  '{"error": "Not Found"}',
  '{"error":"two","errors":["one","two"]}',
]

/** Other bodies that gateways and frameworks answer with, beside GATEWAY_BODIES. */
const STRANGE = ['null', '[]', '"Not Found"', '{}', '{"error":null}', '{"error":{"message":"no"}}', '{"message":"no"}', '{"error":"no","code":5}'] // prettier-ignore

const STATUSES = Array.from({ length: 200 }, (_, i) => 400 + i)

interface Reply {
  status: number
  body: string
  isCut?: boolean
}

let reply: Reply
let accepted: (string | undefined)[] = []
const server = createServer((incoming, outgoing) => {
  accepted.push(incoming.headers.accept)
  incoming.resume().on('end', () => {
    const { status, body, isCut = false } = reply
    outgoing.writeHead(status, { connection: 'close', 'content-length': body.length })
    if (isCut) outgoing.write(body.slice(0, 9), () => outgoing.destroy())
    else outgoing.end(body)
  })
})
let api: Api

test.before('a server in place of PowerDNS', async () => {
  api = new Api({ url: `http://127.0.0.1:${await listen(server)}`, key: 'key', connections: 1 })
})

test.after.always(async () => {
  await api.close()
  server.close()
})

async function kindAfter(next: Reply, method: 'PATCH' | 'DELETE' = 'PATCH'): Promise<FailureKind | undefined> {
  reply = next
  try {
    await api.call(method, '/zones/a.test.', 10_000, method === 'PATCH' ? '{}' : undefined)
    return undefined
  } catch (error) {
    return error instanceof NameserverFailure ? error.kind : undefined
  }
}

for (const [form, body] of Object.entries(GATEWAY_BODIES)) {
  test.serial(
    `after each status from 400 to 599 with a body of the form ${form}, the outcome is unknown`,
    async (t) => {
      for (const status of STATUSES)
        t.is(await kindAfter({ status, body, isCut: form === 'cut' }), 'unknown', `${status}`)
    },
  )
}

test.serial('after each status in PowerDNS’ own form, the outcome is known if PowerDNS has that status', async (t) => {
  for (const status of STATUSES) {
    for (const body of TEXTS) t.is(await kindAfter({ status, body }), OWN[status] ?? 'unknown', `${status} ${body}`)
  }
})

test.serial('JSON of any other form is not PowerDNS’ own', async (t) => {
  for (const status of Object.keys(OWN).map(Number)) {
    for (const body of STRANGE) t.is(await kindAfter({ status, body }), 'unknown', `${status} ${body}`)
  }
})

test.serial('every request asks for JSON, also one without a body', async (t) => {
  accepted = []
  await kindAfter({ status: 404, body: TEXTS[1]! }, 'DELETE')
  await kindAfter({ status: 404, body: TEXTS[1]! })
  t.deepEqual(accepted, ['application/json', 'application/json'])
})
