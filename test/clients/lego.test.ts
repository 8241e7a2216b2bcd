import type { ExecutionContext } from 'ava'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../src/installation/project.ts'
import { needs } from '../support/needs.ts'
import { test } from '../support/serial.ts'
import { newFolder } from '../support/servers/folders.ts'
import { Domain, usePlace } from './support/clients.ts'
import { blocks } from './support/documents.ts'
import { build, copyFiles, lackOfGo, newModule } from './support/go.ts'
import { describe, startPebble } from './support/pebble.ts'
import { shell, succeeded } from './support/programs.ts'

const place = usePlace()

const LEGO_5 = 'github.com/go-acme/lego/v5'
const VERSION = 'v5.6.0'

/** Tags for lego with one provider: the module proxy does not have all modules of the others, nor the one for its log. */
const TAGS = ['-tags', 'lego_dnslight,lego_dns_pdns']
const LOG = 'gitlab.com/greyxor/slogor'

/** Runs a documented command, and asserts that it gets a certificate with a token for one RRset, and leaves no record. */
async function succeeds(t: ExecutionContext, name: string, heading: string, index: number, program = 'lego') {
  const { service, authority, front, dns } = place()
  const domain = await Domain.create(place(), name)
  const pebble = await startPebble(place())
  t.teardown(pebble.stop)
  const folder = newFolder()
  const command = blocks('docs/clients.md', heading)[index]!
  const changes: [string, string][] = [
    ['http://proxy.example.net:3128', front.proxyUrl],
    ['SSL_CERT_FILE=ca.pem ', ''],
    ['https://dns.example.net', `https://${front.host}`],
    ['--accept-tos', `--server ${pebble.directory} --path ${folder} --accept-tos`],
    ['lego ', `${program} `],
    ['ns1.example.net:53', dns],
    ['example.org', domain.name],
  ]
  const changed = changes.reduce((text, [theirs, ours]) => text.replaceAll(theirs, ours), command)
  const env = { TOKEN: await domain.tokenFor({ subname: '_acme-challenge' }, 'TXT'), SSL_CERT_FILE: authority.file }
  succeeded(t, await shell(changed, { env }))
  for (const line of front.requests.splice(0)) t.log(line)

  const { names, issuer, isTrusted } = await describe(pebble, `${folder}/certificates/${domain.name}.crt`)
  t.log(`certificate for ${names.join(', ')}, issued by ${issuer}`)
  t.deepEqual(names, [`*.${name}`, name])
  t.regex(issuer, /^CN = Pebble Intermediate CA/)
  t.true(isTrusted)
  await domain.serves(t, `_acme-challenge.${domain.name}`, 'TXT', [])
  await domain.isValid(t)
  t.is((await service.api.get(`/domains/${domain.name}/rrsets/?type=TXT`)).text, '[]')
}

test('lego gets a certificate for a name and its wildcard with a token for only that RRset, and deletes its records', async (t) => {
  await succeeds(t, 'lego.test', 'lego 4', 0)
})

test("lego 4 does so by PowerDNS' API", async (t) => {
  await succeeds(t, 'lego4.test', "lego with PowerDNS' API", 1)
})

needs(lackOfGo(), test)("lego 5 does so by PowerDNS' API", async (t) => {
  await succeeds(t, 'lego5.test', "lego with PowerDNS' API", 0, await buildLego(t))
})

/** Builds lego 5 with its provider for PowerDNS, and a plain log. */
async function buildLego(t: ExecutionContext): Promise<string> {
  const made = await newModule(t)
  const log = newFolder()
  writeFileSync(join(log, 'go.mod'), `module ${LOG}\n`)
  copyFiles(join(projectFolder(), 'test', 'clients', 'lego', 'slogor'), log)
  await made.go('mod', 'edit', '-replace', `${LOG}=${log}`)
  await made.go('get', ...TAGS, `${LEGO_5}@${VERSION}`)
  return build(made, TAGS, LEGO_5)
}
