import type { ExecutionContext } from 'ava'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../../src/installation/project.ts'
import { query } from '../../../src/store/database.ts'
import { useBrowser } from '../../support/browser.ts'
import { freshEmail, insertAccount } from '../../support/clients/people.ts'
import { openConsole } from '../../support/console/console.ts'
import { eventually } from '../../support/eventually.ts'
import { useServers } from '../../support/harness.ts'
import { needs } from '../../support/needs.ts'
import { newFolder } from '../../support/servers/folders.ts'
import { freePort } from '../../support/servers/ports.ts'
import { build, copyFiles, lackOfGo, newModule } from '../support/go.ts'
import { start } from '../support/programs.ts'

// Single sign-on at Dex, with the settings of docs/operators/accounts.md.

const servers = useServers()

const { test, browser } = useBrowser()

/** Its main program is built without the API that it offers its operators: the module proxy does not have that. */
const DEX = 'github.com/dexidp/dex@v0.0.0-20260806151424-ab64ed778070'

/** The password `password`, as Dex stores it. */
const HASH = '$2a$10$2b2cU8CPhOTaGrs1HRQuAueS7JTT5ZHsHSzYiFPm1leZck7Mc8T4W'

needs(lackOfGo(), test)('people sign in at Dex, first and again, and its groups make them members', async (t) => {
  const dex = await buildDex(t)
  const [port, dexPort] = [await freePort(), await freePort()]
  const [publicUrl, issuer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${dexPort}/dex`]
  const [email, ops] = [freshEmail(), freshEmail()]
  const folder = newFolder()
  const settings = join(folder, 'dex.yaml')
  const people = `enablePasswordDB: true
staticPasswords:
  - email: ${email}
    hash: ${JSON.stringify(HASH)}
    username: alice
    userID: 08a8684b-db88-4b73-90a9-3cd1661f5466
    groups: [dns-admins]
`
  writeFileSync(settings, documented(publicUrl, issuer, dexPort) + people)
  const { child, ended, output } = start(dex, ['serve', settings], { env: { ZONEPLANE_SECRET: 'a secret' }, folder })
  t.teardown(async () => {
    child.kill()
    await ended
  })
  await eventually(() => output().includes('listening on'))
  await insertAccount(servers().system, { email: ops })
  const service = await servers().serve({
    PORT: String(port),
    PUBLIC_URL: publicUrl,
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: 'zoneplane',
    OIDC_CLIENT_SECRET: 'a secret',
    OIDC_NAME: 'Dex',
    OIDC_SIGN_UP: 'on',
    OIDC_GROUPS: `dns-admins=${ops}:admin`,
  })
  for (const time of ['first', 'again']) {
    const { page } = await openConsole(browser(), service.url)
    await page.getByRole('button', { name: 'Dex' }).click()
    await page.getByLabel(/email/i).fill(email)
    await page.getByLabel(/password/i).fill('password')
    await page.getByRole('button', { name: /login/i }).click()
    await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor()
    t.true(page.url().startsWith(`${service.url}/console/`), time)
    await page.close()
  }
  const sql = `select role, source, issuer from members
    join identities on identities.account_id = person_id join accounts on accounts.id = person_id where accounts.email = :email`
  t.deepEqual(await query(servers().system.db, sql, { email }), [{ role: 'admin', source: 'group', issuer }])
})

/** The settings in the document, of this machine. */
function documented(publicUrl: string, issuer: string, port: number): string {
  const text = readFileSync(join(projectFolder(), 'docs', 'operators', 'accounts.md'), 'utf8')
  const [block = ''] = /(?<=\n\n) {4}issuer: [^]*?(?=\n\n)/.exec(text) ?? []
  return `${block}\n`
    .replaceAll(/^ {4}/gm, '')
    .replaceAll('https://login.example.net/dex', issuer)
    .replaceAll('https://dns.example.net', publicUrl)
    .replace('127.0.0.1:5556', `127.0.0.1:${port}`)
    .replace(/type: sqlite3\n {2}config:\n.*\n/, 'type: memory\n')
}

/** Builds Dex. */
async function buildDex(t: ExecutionContext): Promise<string> {
  const made = await newModule(t)
  const { folder, go } = made
  const { Dir: module } = JSON.parse((await go('mod', 'download', '-json', DEX)).replace(/^go: .*\n/gm, '')) as {
    Dir: string
  }
  copyFiles(join(module, 'cmd', 'dex'), folder)
  const serve = join(folder, 'serve.go')
  const lines = readFileSync(serve, 'utf8').split('\n')
  writeFileSync(`${serve}.new`, lines.filter((line) => !/apiserver|dexidp\/dex\/api/.test(line)).join('\n'))
  copyFileSync(`${serve}.new`, serve)
  await go('get', DEX.replace('@', '/cmd/dex@'))
  return build(made)
}
