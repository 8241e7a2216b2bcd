import type { ExecutionContext } from 'ava'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from '../../support/serial.ts'
import { newFolder } from '../../support/servers/folders.ts'
import { Domain } from '../support/clients.ts'
import { newKey, updateBlocks, useDoor } from '../support/door.ts'
import { describe, startPebble } from '../support/pebble.ts'
import { run, shell, succeeded } from '../support/programs.ts'
import { installPython } from '../support/python.ts'

// Clients of DNS UPDATE that are not built in Go, with a token for the names that they need.

const door = useDoor()

/** A domain with a key that may write RRsets of these types at a name. */
async function siteFor(name: string, subname: string, ...types: string[]) {
  const domain = await Domain.create(door(), name)
  return { domain, key: await newKey(door(), domain.allows({ subname }, ...types)) }
}

test('knsupdate replaces an RRset', async (t) => {
  const { domain, key } = await siteFor('knsupdate.test', 'www', 'A')
  const [commands] = updateBlocks('knsupdate', door(), key, { 'example.org': domain.name })
  succeeded(t, await shell(commands!, { folder: newFolder() }))
  await domain.serves(t, `www.${domain.name}`, 'A', ['192.0.2.1'])
})

test('dnspython replaces an RRset, and verifies the signature of the answer', async (t) => {
  const PATH = await installPython(t, ['dnspython'])
  const { domain, key } = await siteFor('dnspython.test', 'www', 'A')
  const [program] = updateBlocks('dnspython', door(), key, { 'example.org': domain.name })
  t.is(succeeded(t, await run('python', ['-c', program!], { env: { PATH } })), 'NOERROR\n')
  await domain.serves(t, `www.${domain.name}`, 'A', ['192.0.2.1'])
})

test('certbot-dns-rfc2136 gets a certificate for a name below the apex and its wildcard', async (t) => {
  const PATH = await installPython(t, ['certbot', 'certbot-dns-rfc2136'])
  const { domain, key } = await siteFor('certbot.test', '_acme-challenge.host', 'TXT')
  const pebble = await startPebble(door())
  t.teardown(pebble.stop)
  const folder = newFolder()
  const name = `host.${domain.name}`
  const own = ['config', 'work', 'logs'].map((each) => `--${each}-dir ${join(folder, each)}`).join(' ')
  const [commands] = updateBlocks('certbot with DNS UPDATE', door(), key, {
    'certbot certonly': `certbot certonly --non-interactive --server ${pebble.directory} ${own}`,
    'you@example.org': 'you@example.test',
    'example.org': name,
    '/etc/letsencrypt': folder,
  })
  succeeded(t, await shell(commands!, { folder, env: { PATH, REQUESTS_CA_BUNDLE: door().authority.file } }))
  await left(t, domain, `_acme-challenge.${name}`, 'TXT')
  const { names, isTrusted } = await describe(pebble, join(folder, 'config', 'live', name, 'fullchain.pem'))
  t.deepEqual(names, [`*.${name}`, name])
  t.true(isTrusted)
})

test('Ansible’s nsupdate writes an RRset, leaves it, changes and removes it', async (t) => {
  const { domain, key } = await siteFor('ansible.test', 'www', 'A')
  const [playbook] = updateBlocks('Ansible with DNS UPDATE', door(), key, { 'example.org': domain.name })
  const folder = newFolder()
  const play = async (text: string) => {
    writeFileSync(join(folder, 'dns.yml'), text)
    const options = ['-e', 'ansible_python_interpreter=/usr/bin/python3', 'dns.yml']
    const output = succeeded(t, await run('/usr/bin/ansible-playbook', options, { folder, env: { LC_ALL: 'C.UTF-8' } }))
    return /changed=(\d)/.exec(output)![1]
  }
  t.is(await play(playbook!), '1')
  await domain.serves(t, `www.${domain.name}`, 'A', ['192.0.2.1', '192.0.2.2'])
  t.is(await play(playbook!), '0')
  t.is(await play(playbook!.replace('ttl: 3600', 'ttl: 600')), '1')
  t.is(await play(playbook!.replace("'192.0.2.1', ", '')), '1')
  await domain.serves(t, `www.${domain.name}`, 'A', ['192.0.2.2'])
  const absent = playbook!.replace('type: A', 'type: A\n        state: absent')
  t.is(await play(absent), '1')
  t.is(await play(absent), '0')
  await left(t, domain, `www.${domain.name}`, 'A')
})

/** Asserts that nothing of a type is left at a name, and that the zone is valid. */
async function left(t: ExecutionContext, domain: Domain, name: string, type: string): Promise<void> {
  await domain.serves(t, name, type, [])
  await domain.isValid(t)
}
