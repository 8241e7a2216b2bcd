import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { accounts, accountSettings } from './accounts.ts'
import { adoption } from './adoption.ts'
import { attacksOnOthers } from './attacks.ts'
import { authentication } from './authentication.ts'
import { bulk } from './bulk.ts'
import { ciStart } from './ci-start.ts'
import { consolePages } from './console.ts'
import { cpu, cpuSettings } from './cpu.ts'
import { dnsUpdate, dnsUpdateSettings } from './dns-update.ts'
import { domainCreation } from './domain-creation.ts'
import { domains } from './domains.ts'
import { history } from './history.ts'
import { loginAttack, loginAttackSettings } from './login-attack.ts'
import { memory } from './memory.ts'
import { metrics } from './metrics.ts'
import { neighbours } from './neighbours.ts'
import { nsec, nsecSettings } from './nsec.ts'
import { oneRRset } from './one-rrset.ts'
import { paging } from './paging.ts'
import { powerdnsApi } from './powerdns-api.ts'
import { reads } from './reads.ts'
import { rebuild } from './rebuild.ts'
import { records } from './records.ts'
import { rollovers } from './rollovers.ts'
import { search } from './search.ts'
import { secondaries } from './secondaries.ts'
import { size } from './size.ts'
import { comparisons, headings } from './support/measure.ts'
import { type Setup, withSetup } from './support/setup.ts'
import { throttle } from './throttle.ts'
import { zonefile } from './zonefile.ts'

// The costs of the service, compared with those of PowerDNS for the same work, in one run on one machine.

const BENCHES: Record<string, (setup: Setup) => Promise<void>> = {
  'one-rrset': oneRRset,
  'domain-creation': domainCreation,
  reads,
  records,
  bulk,
  size,
  nsec,
  memory,
  metrics,
  domains,
  zonefile,
  adoption,
  paging,
  'powerdns-api': powerdnsApi,
  'dns-update': dnsUpdate,
  search,
  authentication,
  accounts,
  'login-attack': loginAttack,
  throttle,
  neighbours,
  history,
  rebuild,
  rollovers,
  secondaries,
  attacks: attacksOnOthers,
  console: consolePages,
  cpu,
  'ci-start': ciStart,
}

/** The settings of the service for a bench that needs others than the defaults. */
const SETTINGS: Record<string, Record<string, string>> = {
  accounts: accountSettings,
  cpu: cpuSettings,
  'dns-update': dnsUpdateSettings,
  'login-attack': loginAttackSettings,
  nsec: nsecSettings,
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
