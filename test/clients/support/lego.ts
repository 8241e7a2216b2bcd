import type { ExecutionContext } from 'ava'
import { newFolder } from '../../support/servers/folders.ts'
import { Domain, type Place } from './clients.ts'
import { blocks } from './documents.ts'
import { describe, startPebble } from './pebble.ts'
import { shell, succeeded } from './programs.ts'

/** Runs a documented command, and asserts that it gets a certificate with a token for one RRset, and leaves no record. */
export async function getsCertificate(
  t: ExecutionContext,
  place: Place,
  name: string,
  heading: string,
  index: number,
  program = 'lego',
): Promise<void> {
  const { service, authority, front, dns } = place
  const domain = await Domain.create(place, name)
  const pebble = await startPebble(place)
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
