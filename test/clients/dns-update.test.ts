import test from 'ava'
import { Domain } from './support/clients.ts'
import { folderWithKey, newKey, updateBlocks, useDoor } from './support/door.ts'
import { run, shell, succeeded } from './support/programs.ts'

// Clients of DNS UPDATE with a token for the names that they need; those that take longer are in built/.

const door = useDoor()

test('nsupdate replaces an RRset, with the key file of the documents', async (t) => {
  const domain = await Domain.create(door(), 'nsupdate.test')
  const key = await newKey(door(), domain.allows({ subname: 'www' }, 'A'))
  const folder = await folderWithKey(key)
  const [commands] = updateBlocks('nsupdate', door(), key, { 'example.org': domain.name })
  t.is(succeeded(t, await shell(commands!, { folder })), '')
  await domain.serves(t, `www.${domain.name}`, 'A', ['192.0.2.1'])
  const { code, output } = await shell(commands!.replaceAll('www', 'other'), { folder })
  t.is(code, 2)
  t.is(output, 'update failed: REFUSED\n')
  await domain.serves(t, `other.${domain.name}`, 'A', [])
})

test('nsupdate does what acme.sh’s dns_nsupdate gives it', async (t) => {
  const domain = await Domain.create(door(), 'acmesh.test')
  const key = await newKey(door(), domain.allows({ subname: '_acme-challenge.www' }, 'TXT'))
  const folder = await folderWithKey(key)
  const name = `_acme-challenge.www.${domain.name}`
  // acmesh-official/acme.sh, dnsapi/dns_nsupdate.sh: dns_nsupdate_add, dns_nsupdate_rm
  const send = async (change: string) => {
    const lines = `server 127.0.0.1  ${door().port}\nzone ${domain.name}.\nupdate ${change}\nsend\n`
    succeeded(t, await run('bash', ['-c', 'nsupdate -k zoneplane.key <<<"$LINES"'], { folder, env: { LINES: lines } }))
  }
  await send(`add ${name}. 60 in txt "one"`)
  await send(`add ${name}. 60 in txt "two"`)
  await domain.serves(t, name, 'TXT', ['"one"', '"two"'])
  await send(`delete ${name}. txt`)
  await send(`delete ${name}. txt`)
  await domain.serves(t, name, 'TXT', [])
})
