import test from 'ava'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { blocks } from './support/documents.ts'
import { Domain, usePlace } from './support/clients.ts'
import { describe, startPebble } from './support/pebble.ts'
import { shell, succeeded } from './support/programs.ts'
import { newFolder } from '../support/servers/folders.ts'

const place = usePlace()

test.serial('certbot with hooks gets a certificate for a name below the apex and its wildcard', async (t) => {
  const { service, servers, authority, front } = place()
  const domain = await Domain.create(place(), 'certbot.test')
  const pebble = await startPebble(place())
  t.teardown(pebble.stop)
  const folder = newFolder()
  const own = ['config', 'work', 'logs'].map((each) => `--${each}-dir ${join(folder, each)}`).join(' ')
  const [hook, command] = blocks('docs/clients.md', 'certbot with hooks', {
    'dns.example.net': front.host,
    'certbot certonly': `certbot certonly --non-interactive --server ${pebble.directory} ${own}`,
    'example.org': `host.${domain.name}`,
  })
  writeFileSync(join(folder, 'zoneplane-hook'), hook!, { mode: 0o700 })
  const env = {
    TOKEN: servers.owner.secret,
    CURL_CA_BUNDLE: authority.file,
    REQUESTS_CA_BUNDLE: authority.file,
  }
  succeeded(t, await shell(command!, { folder, env }))
  for (const line of front.requests) t.log(line)

  const chain = join(folder, 'config', 'live', `host.${domain.name}`, 'fullchain.pem')
  const { names, issuer, isTrusted } = await describe(pebble, chain)
  t.log(`certificate for ${names.join(', ')}, issued by ${issuer}`)
  t.deepEqual(names, ['*.host.certbot.test', 'host.certbot.test'])
  t.regex(issuer, /^CN = Pebble Intermediate CA/)
  t.true(isTrusted)
  await domain.serves(t, `_acme-challenge.host.${domain.name}`, 'TXT', [])
  await domain.isValid(t)
  t.is((await service.api.get(`/domains/${domain.name}/rrsets/?type=TXT`)).text, '[]')
})
