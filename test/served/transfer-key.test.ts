import test from 'ava'
import { randomBytes } from 'node:crypto'
import { NSEC3 } from '../../src/nameserver/nameserver.ts'
import { removeInstanceFolder } from '../../src/private-servers/instance-folder.ts'
import { startPowerDns } from '../../src/private-servers/powerdns.ts'
import { readConfig } from '../../src/settings/config.ts'
import { commandsOn } from '../support/command-line.ts'
import { transfer } from '../support/dns/dns.ts'
import { useServers } from '../support/harness.ts'
import { newFolder } from '../support/servers/folders.ts'
import { driverAt } from '../support/servers/powerdns/driver.ts'

// TRANSFER_KEY: every zone may be transferred with it (RFC 8945). The tests' PowerDNS allows this machine to transfer
// without a key; but a key that a zone does not have, it refuses.

// One service at a time: another one, with another key, would repair zones by its own settings.
const servers = useServers()
const newKey = (algorithm = 'hmac-sha256') => `${algorithm}:transfer.example:${randomBytes(32).toString('base64')}`

test.serial('a zone has the key from its creation on, and PowerDNS the secret of the settings', async (t) => {
  for (const key of [newKey(), newKey(), newKey('hmac-sha512')]) {
    const service = await servers().serve({ TRANSFER_KEY: key })
    const name = `made-${randomBytes(4).toString('hex')}.example`
    t.is((await service.api.post('/domains/', { name })).status, 201)
    await service.stop()
    t.regex(await transfer(servers().powerDns, name, key), /\sSOA\s/)
    await t.throwsAsync(transfer(servers().powerDns, name, newKey()))
    t.false(service.logged().includes(key.split(':')[2]!))
  }
})

test.serial('a zone that was made without the key gets it by reconciliation', async (t) => {
  const older = await servers().serve()
  t.is((await older.api.post('/domains/', { name: 'older.example' })).status, 201)
  await older.stop()
  const key = newKey()
  // Not tried before: PowerDNS remembers for a minute which keys a zone has.
  const service = await servers().serve({ TRANSFER_KEY: key })
  const [succeeded, printed] = await commandsOn(() => service.system)('reconcile', '--contents')
  await service.stop()
  t.true(succeeded, printed)
  t.regex(await transfer(servers().powerDns, 'older.example', key), /\sSOA\s/)
})

test('unless TRANSFER_ADDRESSES says otherwise, zones are transferred with the key alone', async (t) => {
  const { transferAddresses, transferKey } = readConfig({ TRANSFER_KEY: newKey() })
  const folder = newFolder()
  const powerDns = await startPowerDns(folder, { dnsPort: 0, transferAddresses, progress: () => undefined })
  try {
    const nameserver = driverAt(powerDns.apiUrl, powerDns.apiKey, { transferKey })
    await nameserver.probe()
    const contents = { zone: 'zone.example.' as const, denial: NSEC3, version: 1, rrsets: [], ownCds: false }
    await nameserver.createZone(contents, [], { confirm: () => Promise.resolve() })
    await nameserver.close()
    await t.throwsAsync(transfer(powerDns, 'zone.example'))
    const { algorithm, name, secret } = transferKey!
    t.regex(await transfer(powerDns, 'zone.example', `${algorithm}:${name}:${secret}`), /\sSOA\s/)
  } finally {
    await powerDns.stop()
    await removeInstanceFolder(folder)
  }
})
