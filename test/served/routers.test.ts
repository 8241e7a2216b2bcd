import test from 'ava'
import { newDomain } from '../support/api.ts'
import { Client, type Answer } from '../support/client.ts'
import { ask, dataOf } from '../support/dns/dns.ts'
import { addresses, served, told, update } from '../support/dyndns.ts'
import { startService } from '../support/servers/service.ts'
import { isConsistent } from '../support/dns/zone.ts'
import { useTwoProcesses } from './checks/two-processes.ts'

// Contract §10 when many routers get new addresses in the same moment, as after a power cut. Half of them talk to one
// process of the service, half to another; both share what PowerDNS bears.

const { service, clients } = useTwoProcesses()

const ROUTERS = 50

let pair: [Client, Client]

test.before('two processes', async () => {
  pair = await clients()
})

/** Both addresses that a router gets. */
function both(router: number): string {
  return `192.0.2.${router} 2001:db8::${router.toString(16)}`
}

/** Lets all routers update at once, each the name that `nameOf` tells; they talk to these clients' processes in turn. */
function updateAtOnce(through: Client[], nameOf: (router: number) => string): Promise<Answer[]> {
  const routers = Array.from({ length: ROUTERS }, (_, i) => i + 1)
  return Promise.all(
    routers.map((router) =>
      update(through[router % through.length]!, { hostname: nameOf(router), myip: both(router).replace(' ', ',') }),
    ),
  )
}

/** The addresses at a name as DNS answers them, asked without another program: for many names. */
async function asked(name: string): Promise<string> {
  const families = ['A', 'AAAA'].map(async (type) => dataOf(await ask(service().powerDns, name, type), type))
  return (await Promise.all(families)).join(' ')
}

/** The addresses that were published last, as they stand in what PowerDNS was asked. */
function publishedLast(domain: string): string {
  const isIt = ({ method, path }: { method: string; path: string }) => method === 'PATCH' && path.includes(`${domain}.`)
  const { body } = service().proxy.calls.findLast(isIt)!
  return [/192\.0\.2\.\d+/, /2001:db8::[0-9a-f]+/].map((address) => address.exec(body)![0]).join(' ')
}

test.serial(`${ROUTERS} routers update names of their own at once, again and again`, async (t) => {
  const domain = await newDomain(pair[0])
  for (const shift of [0, 1, 2]) {
    const nameOf = (router: number) => `r${(router + shift) % ROUTERS}.${domain}`
    for (const answer of await updateAtOnce(pair, nameOf)) t.deepEqual(told(answer), [200, 'good'])
    for (let router = 1; router <= ROUTERS; router++) t.is(await asked(nameOf(router)), both(router))
  }
})

test.serial(`${ROUTERS} routers update the same name at once: the last one counts, with both addresses`, async (t) => {
  const domain = await newDomain(pair[0])
  for (const answer of await updateAtOnce(pair, () => domain)) t.deepEqual(told(answer), [200, 'good'])
  const shown = await served(service(), domain)
  t.is(shown, publishedLast(domain))
  t.is(await addresses(pair[0], domain, ''), shown)
})

test.serial('with throttling, as many as it lets through count, and the others are told to come again', async (t) => {
  const { api, secret } = await service().account()
  const domain = await newDomain(api)
  const { clientOf, stop } = await startService(service().backends, { THROTTLE: 'on' })
  const answers = await updateAtOnce([clientOf(secret)], () => domain)
  await stop()
  const accepted = answers.flatMap(({ status }, i) => (status === 200 ? [both(i + 1)] : []))
  t.is(accepted.length, 20)
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    t.is(answer.status, 429)
    t.regex(String(answer.headers['retry-after']), /^1?[0-9]{2}$/)
  }
  const shown = await served(service(), domain)
  t.is(shown, publishedLast(domain))
  t.true(accepted.includes(shown))
})

test.serial('after all of it no mark is left, and DNS equals the database', async (t) => {
  await isConsistent(t, service())
})
