import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { accounts, accountSettings } from './accounts.ts'
import { authentication } from './authentication.ts'
import { bulk } from './bulk.ts'
import { cpu, cpuSettings } from './cpu.ts'
import { dnsUpdate, dnsUpdateSettings } from './dns-update.ts'
import { domainCreation } from './domain-creation.ts'
import { domains } from './domains.ts'
import { memory } from './memory.ts'
import { neighbours } from './neighbours.ts'
import { nsec, nsecSettings } from './nsec.ts'
import { oneRRset } from './one-rrset.ts'
import { reads } from './reads.ts'
import { size } from './size.ts'
import { standby } from './standby.ts'
import { comparisons, headings } from './support/measure.ts'
import { type Setup, withSetup } from './support/setup.ts'
import { webhooks, webhookSettings } from './webhooks.ts'

// The costs of the service, compared with those of PowerDNS for the same work, in one run on one machine.

const BENCHES: Record<string, (setup: Setup) => Promise<void>> = {
  'one-rrset': oneRRset,
  'domain-creation': domainCreation,
  reads,
  bulk,
  size,
  nsec,
  memory,
  domains,
  'dns-update': dnsUpdate,
  authentication,
  accounts,
  neighbours,
  webhooks,
  standby,
  cpu,
}

/** The settings of the service for a bench that needs others than the defaults. */
const SETTINGS: Record<string, Record<string, string>> = {
  accounts: accountSettings,
  cpu: cpuSettings,
  'dns-update': dnsUpdateSettings,
  nsec: nsecSettings,
  webhooks: webhookSettings,
}

const { values, positionals } = parseArgs({ options: { json: { type: 'string' } }, allowPositionals: true })
const names = positionals.length > 0 ? positionals : Object.keys(BENCHES)
const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name))
if (unknown.length > 0) {
  console.error(`No such bench: ${unknown.join(', ')}. There are: ${Object.keys(BENCHES).join(', ')}.`)
  process.exit(1)
}

headings()
for (const name of names) await withSetup(BENCHES[name]!, SETTINGS[name])
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(comparisons, undefined, 2)}\n`)
