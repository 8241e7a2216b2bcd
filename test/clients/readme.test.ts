import test from 'ava'
import { blocks } from './support/documents.ts'
import { Domain, usePlace } from './support/clients.ts'
import { shell, succeeded } from './support/programs.ts'

const place = usePlace()

test.serial('the README’s first request creates an RRset with curl, and dig shows it with its signature', async (t) => {
  const { service, servers } = place()
  const { dnsHost, dnsPort } = servers.powerDns
  const domain = await Domain.create(place(), 'example.test')
  const commands = blocks('README.md', 'First request', {
    'TOKEN=…': `TOKEN=${servers.owner.secret}`,
    'http://127.0.0.1:8080': service.url,
    '@127.0.0.1 -p 5300': `@${dnsHost} -p ${dnsPort}`,
  })
  const said = succeeded(t, await shell(commands.join('\n').replaceAll('curl ', 'curl -sS ')))
  for (const line of said.trim().split('\n')) t.log(line)
  t.regex(
    said,
    /^\{"created":"[^"]*","domain":"example\.test","subname":"www",.*"records":\["192\.0\.2\.1"\],"ttl":300,/,
  )
  t.regex(said, /^www\.example\.test\.\s+300\s+IN\s+A\s+192\.0\.2\.1$/m)
  t.regex(said, /^www\.example\.test\.\s+300\s+IN\s+RRSIG\s+A 13 3 300 /m)
  await domain.serves(t, `www.${domain.name}`, 'A', ['192.0.2.1'])
  await domain.isValid(t)
})
