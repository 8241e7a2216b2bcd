import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { projectFolder } from '../../../src/installation/project.ts'
import { newRRset, succeeded as created } from '../../support/clients/api.ts'
import { needs } from '../../support/needs.ts'
import { test } from '../../support/serial.ts'
import { newFolder } from '../../support/servers/folders.ts'
import { Domain } from '../support/clients.ts'
import { folderWithKey, newKey, updateBlocks, useDoor } from '../support/door.ts'
import { build, lackOfGo, newModule } from '../support/go.ts'
import { buildExternalDns, buildLego } from '../support/modules.ts'
import { describe, startPebble } from '../support/pebble.ts'
import { run, shell, succeeded } from '../support/programs.ts'

// Clients of DNS UPDATE that are built in Go, with a token for the names that they need.

const door = useDoor()

/** Our programs, which use their packages. */
const programOf = (name: string) => join(projectFolder(), 'test', 'clients', name)

needs(lackOfGo(), test)('lego 5 gets a certificate for a name and its wildcard', async (t) => {
  const program = await buildLego(t, 'dnsupdate')
  const domain = await Domain.create(door(), 'lego.test')
  const key = await newKey(door(), domain.allows({ subname: '_acme-challenge' }, 'TXT'))
  const folder = await folderWithKey(key)
  const pebble = await startPebble(door())
  t.teardown(pebble.stop)
  const [command] = updateBlocks('lego with DNS UPDATE', door(), key, {
    'lego run --accept-tos': `${program} run --server ${pebble.directory} --path ${folder} --accept-tos`,
    'ns1.example.net:53': door().dns,
    'example.org': domain.name,
  })
  succeeded(t, await shell(command!, { folder, env: { SSL_CERT_FILE: door().authority.file } }))
  const { names, isTrusted } = await describe(pebble, `${folder}/certificates/${domain.name}.crt`)
  t.deepEqual(names, [`*.${domain.name}`, domain.name])
  t.true(isTrusted)
  await domain.serves(t, `_acme-challenge.${domain.name}`, 'TXT', [])
  await domain.isValid(t)
})

needs(lackOfGo(), test)(
  'external-dns creates, changes and deletes the records of its sources in two domains, with one key',
  async (t) => {
    const program = await buildExternalDns(t)
    const { api } = door().service
    const [one, other] = [await Domain.create(door(), 'one.test'), await Domain.create(door(), 'other.test')]
    const names = { subname_pattern: '**.k8s' }
    const types = ['A', 'AAAA', 'CNAME', 'TXT']
    const key = await newKey(door(), one.allows(names, ...types), other.allows(names, ...types))
    await newRRset(api, one.name, { subname: 'foreign', records: ['192.0.2.9'] })
    const folder = newFolder()
    const [command] = updateBlocks('external-dns with DNS UPDATE', door(), key, {
      'external-dns ': `${program} `,
      'example.org': one.name,
      'example.com': other.name,
    })
    const RECORDS = join(folder, 'records.json')
    const sync = async (...endpoints: [dnsName: string, recordType: string, ...targets: string[]][]) => {
      const wanted = endpoints.map(([dnsName, recordType, ...targets]) => ({ dnsName, recordType, targets }))
      writeFileSync(RECORDS, JSON.stringify(wanted))
      return succeeded(t, await shell(command!, { folder, env: { RECORDS } }))
    }
    const [www, app] = [`www.k8s.${one.name}`, `app.k8s.${other.name}`]
    const all = [
      [www, 'A', '192.0.2.1', '192.0.2.2'] as [string, string, ...string[]],
      [www, 'AAAA', '2001:db8::1'] as [string, string, ...string[]],
      [app, 'CNAME', 'lb.example.net'] as [string, string, ...string[]],
    ]
    t.regex(await sync(...all), /^create 3, update 0, delete 0$/m)
    await one.serves(t, www, 'A', ['192.0.2.1', '192.0.2.2'])
    await other.serves(t, app, 'CNAME', ['lb.example.net.'])
    t.regex(await sync(...all), /^create 0, update 0, delete 0$/m)
    t.regex(await sync([www, 'A', '192.0.2.3']), /^create 0, update 1, delete 2$/m)
    await one.serves(t, www, 'A', ['192.0.2.3'])
    t.regex(await sync(), /^create 0, update 0, delete 1$/m)
    for (const [domain, count] of [
      [one, 2],
      [other, 1],
    ] as const)
      // prettier-ignore
      t.is((created(await api.get(`/domains/${domain.name}/rrsets/`), 200).json as unknown[]).length, count)
    await one.isValid(t)
  },
)

needs(lackOfGo(), test)('cert-manager’s solver writes and deletes its record, and leaves others', async (t) => {
  const program = await build(
    await newModule(t, programOf('cert-manager'), ['github.com/cert-manager/cert-manager@v1.21.2']),
  )
  const domain = await Domain.create(door(), 'certmanager.test')
  const key = await newKey(door(), domain.allows({ subname: '_acme-challenge' }, 'TXT'))
  const [issuer] = updateBlocks('cert-manager with DNS UPDATE', door(), key, {})
  const { rfc2136 } = settingsIn(issuer!)
  const name = `_acme-challenge.${domain.name}`
  const env = { ISSUER: JSON.stringify(rfc2136), SECRET: key.secret }
  const solve = async (deed: string, value: string, settings = env) =>
    succeeded(t, await run(program, [deed, `${name}.`, `${domain.name}.`, value], { env: settings }))
  await solve('present', 'one')
  // With the final dot, another hash, and TCP.
  const more = { ...rfc2136, tsigKeyName: `${key.name}.`, tsigAlgorithm: 'HMACSHA512', protocol: 'TCP' }
  await solve('present', 'two', { ...env, ISSUER: JSON.stringify(more) })
  await domain.serves(t, name, 'TXT', ['"one"', '"two"'])
  await solve('cleanup', 'one')
  await domain.serves(t, name, 'TXT', ['"two"'])
  await solve('cleanup', 'two')
  await solve('cleanup', 'two')
  await domain.serves(t, name, 'TXT', [])
})

needs(lackOfGo(), test)(
  'what Terraform’s provider sends changes RRsets, and reads them back with the key',
  async (t) => {
    const program = await build(await newModule(t, programOf('terraform'), ['github.com/miekg/dns@v1.1.73']))
    const domain = await Domain.create(door(), 'terraform.test')
    const key = await newKey(door(), domain.allows({ subname: 'www' }, 'A'), domain.allows({ subname: 'sub' }, 'NS'))
    const [provider] = updateBlocks('Terraform with DNS UPDATE', door(), key, { 'example.org': domain.name })
    const setting = (name: string) => new RegExp(`^ *${name} += "?([^"\\n]+)"?$`, 'm').exec(provider!)![1]!
    const env = {
      SERVER: `${setting('server')}:${setting('port')}`,
      ZONE: setting('zone'),
      KEY: setting('key_name'),
      ALGORITHM: setting('key_algorithm'),
      SECRET: setting('key_secret'),
    }
    const terraform = async (...steps: string[]) => succeeded(t, await run(program, steps, { env }))
    const www = `www.${domain.name}.`
    // hashicorp/terraform-provider-dns, internal/provider: resourceDnsARecordSetUpdate, resourceDnsRead, resourceDnsDelete
    t.is(await terraform(`add ${www} 3600 A 192.0.2.1`, `read ${www} A`), `${www} 3600 IN A 192.0.2.1\n`)
    await domain.serves(t, www, 'A', ['192.0.2.1'])
    await terraform(`add ${www} 3600 A 192.0.2.2`, `remove ${www} 3600 A 192.0.2.1`)
    t.is(await terraform(`read ${www} A`), `${www} 3600 IN A 192.0.2.2\n`)
    const sub = `sub.${domain.name}.`
    t.is(await terraform(`add ${sub} 3600 NS ns.example.net.`, `read ${sub} NS`), `${sub} 3600 IN NS ns.example.net.\n`)
    t.regex(await terraform(`clear ${www} 0 A`, `read ${www} A`), /^terraform\.test\. \d+ IN SOA .*\n$/)
    await domain.serves(t, www, 'A', [])
  },
)

/** The settings of the solver in an Issuer. */
function settingsIn(issuer: string): { rfc2136: Record<string, unknown> } {
  const { spec } = parse(issuer) as { spec: { acme: { solvers: { dns01: { rfc2136: Record<string, unknown> } }[] } } }
  return spec.acme.solvers[0]!.dns01
}
