import ava, { type ExecutionContext } from 'ava'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { Page } from 'playwright-core'
import type { PowerDns } from '../../src/private-servers/powerdns.ts'
import { type Account, createAccount } from '../support/clients/accounts.ts'
import { newDomain, newRRset, succeeded } from '../support/clients/api.ts'
import { check, type Tab, useConsole } from '../support/console/console.ts'
import { ask, lookUp, type Server, transfer } from '../support/dns/dns.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { needs } from '../support/needs.ts'
import { lackOfPort53, ownNetwork } from '../support/servers/ports.ts'
import { type Kind, startSecondary } from '../support/servers/secondaries.ts'
import { type Closed, startClosed } from '../support/servers/servers.ts'
import type { LocalService } from '../support/servers/service.ts'

// The lines that the console shows with a new TSIG key, as their reader uses them: real nameservers transfer the zone from a
// PowerDNS that lets nobody transfer it without a key, and follow its changes. NOTIFY goes to port 53 alone.

const NETWORK = ownNetwork()
const PRIMARY = `${NETWORK}1`
/** Whence this machine sends to its other addresses: NOTIFY, too. */
const NOTIFIER = '127.0.0.1'

/** The nameservers: their names on the page, and the addresses that the user names. */
const SERVERS: [name: string, kind: Kind, address: string][] = [
  ['BIND', 'bind', `${NETWORK}2`],
  ['Knot', 'knot', `${NETWORK}3`],
  ['NSD', 'nsd', `${NETWORK}4`],
]

const lack = lackOfPort53(PRIMARY)
let servers: Closed
let powerDns: PowerDns
let service: LocalService
let account: Account

ava.serial.before('a PowerDNS that lets nobody transfer zones', async () => {
  servers = await startClosed({ dnsHosts: [PRIMARY], dnsPort: lack === undefined ? 53 : 0 })
  ;({ powerDns, service } = servers)
  account = await createAccount(service.system, service.url)
})

ava.after.always('the servers stop', async () => {
  await servers.stop()
})

const { test, openTab } = useConsole(() => service)

/** Opens the page of a domain, and lets secondaries transfer it with a key. */
async function openWithKey(name: string): Promise<Tab> {
  const path = `domains/${name}/nameservers`
  const tab = await openTab({ path, secret: account.secret })
  const { page } = tab
  const addresses = SERVERS.map(([, , address]) => address).join('\n')
  await page.getByLabel('May transfer').fill(addresses)
  await page.getByLabel('Are told of changes').fill(addresses)
  await setKey(page, true)
  return tab
}

async function setKey(page: Page, isWanted: boolean): Promise<void> {
  await page.getByLabel('With a TSIG key').setChecked(isWanted)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/^Saved\./).waitFor()
  await page.getByRole('heading', { name: 'The new TSIG key' }).waitFor({ state: isWanted ? 'visible' : 'detached' })
}

/** The lines for a nameserver, as a reader of the page completes them. */
async function linesFor(page: Page, server: string): Promise<string> {
  const text = (await page.getByLabel(`Lines for ${server}`, { exact: true }).textContent())!
  return text.replace(/\bADDRESS\b/g, PRIMARY).replace(/\bNOTIFIER\b/g, NOTIFIER)
}

/** The key of the lines, as dig expects it. */
async function keyOf(page: Page): Promise<string> {
  const found = /key "(.*)" \{\s+algorithm (.*);\s+secret "(.*)";/.exec(await linesFor(page, 'BIND'))!
  return `${found[2]}:${found[1]}:${found[3]}`
}

const mayTransfer = (name: string, key?: string) =>
  transfer(powerDns, name, key, NOTIFIER).then(
    () => true,
    () => false,
  )

const www = (...records: string[]) => ({ subname: 'www', type: 'A', ttl: 3600, records })

async function refreshOf(t: ExecutionContext, name: string): Promise<number> {
  const { answers } = await ask(powerDns, name, 'SOA')
  const soa = answers.find(({ type }) => type === 'SOA')
  t.is(soa?.type, 'SOA')
  return soa?.type === 'SOA' ? soa.data.refresh! : 0
}

/** Passes on what comes to port 53 of an address. BIND listens on no address that the network interface does not list. */
async function redirect(address: string, { dnsHost, dnsPort }: Server): Promise<Socket> {
  const passing = createSocket('udp4').unref()
  const socket = createSocket('udp4').bind(53, address)
  await once(socket, 'listening')
  return socket.on('message', (message) => {
    passing.send(message, dnsPort, dnsHost)
  })
}

const declared = needs(lack, test)

declared('BIND, Knot and NSD transfer zones by the lines of the console, and follow NOTIFY', async (t) => {
  const { api } = account
  const names = [await newDomain(api), await newDomain(api)]
  const pages: Page[] = []
  for (const name of names) {
    await newRRset(api, name, www('192.0.2.1'))
    // They do not ask again before that.
    t.is(await refreshOf(t, name), 3600)
    t.false(await mayTransfer(name))
    pages.push((await openWithKey(name)).page)
  }
  const secondaries = await Promise.all(
    SERVERS.map(async ([server, kind, address]) => {
      const lines = await Promise.all(pages.map((page) => linesFor(page, server)))
      const secondary = await startSecondary(kind, powerDns, [], (preamble) => `${preamble}\n${lines.join('')}`)
      const redirection = await redirect(address, secondary)
      t.teardown(async () => {
        redirection.close()
        await secondary.kill()
      })
      return secondary
    }),
  )
  const serve = async (content: string) => {
    for (const name of names) {
      for (const secondary of secondaries) {
        await eventuallyIs(() => lookUp(secondary, `www.${name}`, 'A'), [content])
      }
    }
  }
  await serve('192.0.2.1')
  for (const name of names) succeeded(await api.put(`/domains/${name}/rrsets/www/A/`, www('192.0.2.2')), 200)
  await serve('192.0.2.2')
})

declared('without the key nobody else transfers the zone, and a removed key ends', async (t) => {
  const name = await newDomain(account.api)
  const { page } = await openWithKey(name)
  await check(t, page, 'nameservers-key')
  const former = await keyOf(page)
  t.true(await mayTransfer(name, former))
  t.false(await mayTransfer(name))
  await setKey(page, false)
  await eventually(async () => !(await mayTransfer(name, former)))
  await setKey(page, true)
  const next = await keyOf(page)
  t.not(next, former)
  await eventually(() => mayTransfer(name, next))
  t.false(await mayTransfer(name, former))
  t.false(await mayTransfer(name))
})
