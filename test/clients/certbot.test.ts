import test, { type ExecutionContext } from 'ava'
import { join } from 'node:path'
import { newFolder } from '../support/servers/folders.ts'
import { Domain, usePlace } from './support/clients.ts'
import { blocks } from './support/documents.ts'
import { describe, startPebble } from './support/pebble.ts'
import { shell, succeeded } from './support/programs.ts'
import { usePython } from './support/python.ts'

const place = usePlace()
const path = usePython(['certbot', 'certbot-dns-desec', 'certbot-dns-powerdns'])

/** certbot with an ACME server and folders of its own. */
async function useCertbot(t: ExecutionContext, domain: Domain, token = place().servers.owner.secret) {
  const { service, authority, front } = place()
  const pebble = await startPebble(place())
  t.teardown(pebble.stop)
  const folder = newFolder()
  const own = ['config', 'work', 'logs'].map((each) => `--${each}-dir ${join(folder, each)}`).join(' ')
  const name = `host.${domain.name}`
  const certonly = `certbot certonly --non-interactive --agree-tos --email you@example.test --server ${pebble.directory} ${own}`
  return {
    folder,
    /** What the documented commands get in this test. */
    changes: {
      'dns.example.net': front.host,
      'certbot certonly': certonly,
      'example.org': name,
      '/etc/letsencrypt': folder,
      $TOKEN: token,
    },
    /** Runs the command and asserts that it gets a certificate for the name and its wildcard, and leaves no record. */
    async succeeds(command: string, more: Record<string, string> = {}) {
      const env = { CURL_CA_BUNDLE: authority.file, REQUESTS_CA_BUNDLE: authority.file, ...more }
      succeeded(t, await shell(command, { folder, env }))
      for (const line of front.requests.splice(0)) t.log(line)
      const chain = join(folder, 'config', 'live', name, 'fullchain.pem')
      const { names, issuer, isTrusted } = await describe(pebble, chain)
      t.log(`certificate for ${names.join(', ')}, issued by ${issuer}`)
      t.deepEqual(names, [`*.${name}`, name])
      t.regex(issuer, /^CN = Pebble Intermediate CA/)
      t.true(isTrusted)
      await domain.serves(t, `_acme-challenge.${name}`, 'TXT', [])
      await domain.isValid(t)
      t.is((await service.api.get(`/domains/${domain.name}/rrsets/?type=TXT`)).text, '[]')
    },
  }
}

test.serial('certbot with hooks gets a certificate for a name below the apex and its wildcard', async (t) => {
  const certbot = await useCertbot(t, await Domain.create(place(), 'certbot.test'))
  const [commands] = blocks('docs/clients.md', 'certbot with hooks', certbot.changes)
  await certbot.succeeds(commands!)
})

test.serial('certbot-dns-desec gets a certificate for a name below the apex and its wildcard', async (t) => {
  const certbot = await useCertbot(t, await Domain.create(place(), 'plugin.test'))
  const [, commands] = blocks('docs/clients.md', 'certbot', certbot.changes)
  await certbot.succeeds(commands!, { PATH: path() })
})

test.serial('certbot-dns-powerdns does so with a token for one RRset', async (t) => {
  const domain = await Domain.create(place(), 'powerdns.test')
  const certbot = await useCertbot(t, domain, await domain.tokenFor({ subname: '_acme-challenge.host' }, 'TXT'))
  const [, commands] = blocks('docs/clients.md', "certbot with PowerDNS' API", certbot.changes)
  await certbot.succeeds(commands!, { PATH: path() })
})
