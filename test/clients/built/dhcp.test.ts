import type { ExecutionContext } from 'ava'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { succeeded as got } from '../../support/clients/api.ts'
import { eventually } from '../../support/eventually.ts'
import { needs } from '../../support/needs.ts'
import { test } from '../../support/serial.ts'
import { newFolder } from '../../support/servers/folders.ts'
import { Domain } from '../support/clients.ts'
import { newKey, updateBlocks, useDoor } from '../support/door.ts'
import { lackOfNetworks, makeNetwork, type Network } from '../support/network.ts'
import { succeeded } from '../support/programs.ts'

// DHCP servers that write the names of their clients by DNS UPDATE, with leases that come and go (RFC 4701, RFC 4703).

const door = useDoor()

const REVERSE = '2.0.192.in-addr.arpa'
const POOL = ['192.0.2.10', '192.0.2.20'] as const

/** Gives an interface the address of its lease; the system's script would also change how this machine resolves names. */
const SCRIPT = `#!/bin/sh
case $reason in BOUND | RENEW | REBIND | REBOOT) ip address replace "$new_ip_address/24" dev "$interface" ;; esac
`

needs(lackOfNetworks(), test)(
  'ISC dhcpd writes and removes the names of its leases, and gives none to another client',
  async (t) => {
    await leases(t, 'dhcpd.test', (network, text) => {
      const folder = newFolder()
      const own = `${text('ISC dhcpd')[0]!}
default-lease-time 3600;
subnet 192.0.2.0 netmask 255.255.255.0 { range ${POOL.join(' ')}; }
`
      writeFileSync(join(folder, 'dhcpd.conf'), own)
      writeFileSync(join(folder, 'leases'), '')
      const files = ['-cf', join(folder, 'dhcpd.conf'), '-lf', join(folder, 'leases'), '--no-pid']
      const server = network.serve('dhcpd', '-4', '-f', '-d', ...files, 'wire')
      return { output: server.output, ready: /Sending on +Socket\/fallback/ }
    })
  },
)

needs(lackOfNetworks(), test)(
  'Kea writes and removes the names of its leases, and gives none to another client',
  async (t) => {
    await leases(t, 'kea.test', (network, text) => {
      const folder = newFolder()
      const [server, updater] = text('Kea')
      const { Dhcp4 } = JSON.parse(server!) as { Dhcp4: object }
      const own = {
        'interfaces-config': { interfaces: ['wire'] },
        'lease-database': { type: 'memfile', persist: false },
        'valid-lifetime': 3600,
        subnet4: [{ subnet: '192.0.2.0/24', pools: [{ pool: POOL.join(' - ') }] }],
      }
      writeFileSync(join(folder, 'dhcp4.json'), JSON.stringify({ Dhcp4: { ...Dhcp4, ...own } }))
      writeFileSync(join(folder, 'd2.json'), updater!)
      const d2 = network.serve('kea-dhcp-ddns', '-d', '-c', join(folder, 'd2.json'))
      const dhcp = network.serve('kea-dhcp4', '-d', '-c', join(folder, 'dhcp4.json'))
      return { output: () => d2.output() + dhcp.output(), ready: /DHCP_DDNS_STARTED[^]*DHCP4_STARTED/ }
    })
  },
)

/** Starts a server, and asserts what DNS has when clients come, go, and want a name that is taken. */
async function leases(
  t: ExecutionContext,
  name: string,
  begin: (network: Network, text: (heading: string) => string[]) => { output: () => string; ready: RegExp },
): Promise<void> {
  const { api } = door().service
  const [domain, reverse] = [await Domain.create(door(), name), await Domain.create(door(), REVERSE)]
  const all = { subname_pattern: '**' }
  const key = await newKey(door(), domain.allows(all, 'A', 'DHCID'), reverse.allows(all, 'PTR', 'DHCID'))
  const network = await makeNetwork(door().port)
  t.teardown(network.close)
  const text = (heading: string) => updateBlocks(heading, { ...door(), port: 53 }, key, { 'example.org': name })
  const { output, ready } = begin(network, text)
  try {
    await eventually(() => ready.test(output()))
    const clients = [clientOf(network, 'laptop'), clientOf(network, 'laptop')] as const
    // They run on by themselves.
    for (const { goes } of clients) t.teardown(goes)
    succeeded(t, await clients[0].comes())
    const has = async (subname: string, type: string) => {
      const { json } = await api.get(`/domains/${name}/rrsets/?subname=${subname}&type=${type}`)
      return (json as { records: string[] }[]).flatMap(({ records }) => records)
    }
    const pointers = async () => {
      const { json } = got(await api.get(`/domains/${REVERSE}/rrsets/?type=PTR`), 200)
      return (json as { subname: string; records: string[] }[]).map(
        ({ subname, records }) => `${subname} ${records.join()}`,
      )
    }
    await eventually(async () => (await pointers()).length === 1)
    const [address] = await has('laptop', 'A')
    const [hash] = await has('laptop', 'DHCID')
    await domain.serves(t, `laptop.${name}`, 'A', [address!])
    t.regex(hash!, /^\S{40,}$/)
    t.deepEqual(await pointers(), [`${address!.split('.')[3]!} laptop.${name}.`])
    // Another client with this name gets an address, but not the name.
    succeeded(t, await clients[1].comes())
    await eventually(() => /DHCP_DDNS_ADD_FAILED|Forward map .* FAILED/.test(output()))
    t.deepEqual(await has('laptop', 'A'), [address])
    t.deepEqual(await has('laptop', 'DHCID'), [hash])
    succeeded(t, await clients[1].goes())
    succeeded(t, await clients[0].goes())
    await eventually(async () => (await pointers()).length === 0 && (await has('laptop', 'A')).length === 0)
    t.deepEqual(await has('laptop', 'DHCID'), [])
    await domain.serves(t, `laptop.${name}`, 'A', [])
    await domain.isValid(t)
  } catch (error) {
    t.log(output())
    throw error
  } finally {
    await api.delete(`/domains/${REVERSE}/`)
  }
}

/** A client of DHCP, with an identity of its own. */
function clientOf(network: Network, name: string) {
  const folder = newFolder()
  const file = (each: string, content: string) => {
    writeFileSync(join(folder, each), content)
    return join(folder, each)
  }
  const script = file('script', SCRIPT)
  chmodSync(script, 0o755)
  const settings = file('dhclient.conf', `send host-name "${name}";\nsend dhcp-client-identifier "${folder}";\n`)
  const files = ['-sf', script, '-cf', settings, '-lf', join(folder, 'leases'), '-pf', join(folder, 'pid')]
  const dhclient = (...args: string[]) => network.onClient('dhclient', '-4', '-v', ...args, ...files, 'wire')
  return { comes: () => dhclient('-1'), goes: () => dhclient('-r') }
}
