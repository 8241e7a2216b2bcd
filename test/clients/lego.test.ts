import { succeeded as created } from '../support/clients/api.ts'
import { test } from '../support/serial.ts'
import { newFolder } from '../support/servers/folders.ts'
import { Domain, usePlace } from './support/clients.ts'
import { blocks } from './support/documents.ts'
import { describe, startPebble } from './support/pebble.ts'
import { shell, succeeded } from './support/programs.ts'

const place = usePlace()

/** The secret of a token that may write only this RRset of a domain. */
async function tokenFor(domain: Domain, subname: string, type: string): Promise<string> {
  const { api } = place().service
  const { id, token } = created(await api.post('/auth/tokens/', { name: 'lego' }), 201).json as Record<string, string>
  for (const policy of [
    { domain: null, subname: null, type: null, perm_write: false },
    { domain: domain.name, subname, type, perm_write: true },
  ]) {
    created(await api.post(`/auth/tokens/${id!}/policies/rrsets/`, policy), 201)
  }
  return token!
}

test('lego gets a certificate for a name and its wildcard with a token for only that RRset, and deletes its records', async (t) => {
  const { service, authority, front, dns } = place()
  const domain = await Domain.create(place(), 'lego.test')
  const pebble = await startPebble(place())
  t.teardown(pebble.stop)
  const folder = newFolder()
  const [command] = blocks('docs/clients.md', 'lego 4', {
    'http://proxy.example.net:3128': front.proxyUrl,
    'SSL_CERT_FILE=ca.pem': `SSL_CERT_FILE=${authority.file}`,
    'lego --accept-tos': `lego --server ${pebble.directory} --path ${folder} --accept-tos`,
    'ns1.example.net:53': dns,
    'example.org': domain.name,
  })
  succeeded(t, await shell(command!, { env: { TOKEN: await tokenFor(domain, '_acme-challenge', 'TXT') } }))
  for (const line of front.requests) t.log(line)

  const { names, issuer, isTrusted } = await describe(pebble, `${folder}/certificates/${domain.name}.crt`)
  t.log(`certificate for ${names.join(', ')}, issued by ${issuer}`)
  t.deepEqual(names, ['*.lego.test', 'lego.test'])
  t.regex(issuer, /^CN = Pebble Intermediate CA/)
  t.true(isTrusted)
  await domain.serves(t, `_acme-challenge.${domain.name}`, 'TXT', [])
  await domain.isValid(t)
  t.is((await service.api.get(`/domains/${domain.name}/rrsets/?type=TXT`)).text, '[]')
})
