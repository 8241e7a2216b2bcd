import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { useBrowser } from '../support/browser.ts'
import { openConsole } from '../support/console/console.ts'
import { newFolder } from '../support/servers/folders.ts'
import { Domain, usePlace } from './support/clients.ts'
import { describe, startPebble } from './support/pebble.ts'
import { shell, succeeded } from './support/programs.ts'

// The texts that the console shows with the secret of a new token, as its reader uses them.

const place = usePlace()

const { test, browser } = useBrowser()

test('certbot gets a certificate with the token and the texts that the console shows for its name', async (t) => {
  const { authority } = place()
  const domain = await Domain.create(place(), 'console.test')
  const name = `host.${domain.name}`
  const pebble = await startPebble(place())
  t.teardown(pebble.stop)
  const texts = await make('Certificates for one name', name, 'certbot with hooks')
  const folder = newFolder()
  const own = ['config', 'work', 'logs'].map((each) => `--${each}-dir ${join(folder, each)}`).join(' ')
  const certonly = `certbot certonly --non-interactive --server ${pebble.directory} ${own}`
  const env = { CURL_CA_BUNDLE: authority.file, REQUESTS_CA_BUNDLE: authority.file }
  t.is(texts.length, 1)
  const commands = texts[0]!.replace('certbot certonly', certonly).replaceAll('/etc/letsencrypt', folder)
  succeeded(t, await shell(commands, { env }))
  const { names, isTrusted } = await describe(pebble, join(folder, 'config', 'live', name, 'fullchain.pem'))
  t.deepEqual(names, [`*.${name}`, name])
  t.true(isTrusted)
  // What the package's timer runs, which knows nothing of that shell.
  const renew = `certbot renew --force-renewal --no-random-sleep-on-renew ${own}`
  succeeded(t, await shell(renew, { folder: newFolder(), env }))
  t.true(existsSync(join(folder, 'config', 'archive', name, 'fullchain2.pem')))
  await domain.serves(t, `_acme-challenge.${name}`, 'TXT', [])
})

test('ddclient updates a host with the token and the texts that the console shows for it', async (t) => {
  const { authority, front } = place()
  const domain = await Domain.create(place(), 'dynamic.test')
  const name = `home.${domain.name}`
  const texts = await make('Addresses of one host', name, 'ddclient 3.10')
  const folder = newFolder()
  const [ipv4, ipv6, cron] = texts as [string, string, string]
  for (const [file, text] of Object.entries({ 'ddclient-ipv4.conf': ipv4, 'ddclient-ipv6.conf': ipv6 })) {
    // ddclient refuses host names without a dot.
    const server = `server=${front.host}`
    t.true(text.includes(server))
    const configuration = text
      .replace(server, server.replace('localhost', '127.0.0.1'))
      .replace('ssl=yes', `ssl=yes\nssl_ca_file=${authority.file}`)
    writeFileSync(join(folder, file), configuration, { mode: 0o600 })
  }
  const commands = Array.from(cron.matchAll(/ root (ddclient .*)$/gm), ([, command]) =>
    command!.replace(/\/etc|\/var\/cache\/ddclient/g, folder),
  )
  t.is(commands.length, 2)
  for (const command of commands)
    succeeded(t, await shell(`${command} -noquiet`, { env: { CURL_CA_BUNDLE: authority.file } }))
  await domain.serves(t, name, 'A', ['192.0.2.7'])
  await domain.serves(t, name, 'AAAA', ['2001:db8::7'])
})

/** Makes a token for a name in the console, and returns the texts for a program. */
async function make(preset: string, name: string, program: string): Promise<string[]> {
  const { front, servers } = place()
  const options = { path: 'tokens/new', secret: servers.owner.secret, ignoreHTTPSErrors: true }
  const { page } = await openConsole(browser(), `https://${front.host}`, options)
  await page.getByRole('radio', { name: new RegExp(`^${preset} `) }).check()
  await page.getByLabel('Host name').fill(name)
  await page.getByRole('button', { name: 'Create the token' }).click()
  await page.getByLabel('Program', { exact: true }).selectOption(program)
  return page.locator('.snippet pre').allTextContents()
}
