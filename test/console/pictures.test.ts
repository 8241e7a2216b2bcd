import ava from 'ava'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { projectFolder } from '../../src/installation/project.ts'
import { newDomain, newRRset } from '../support/clients/api.ts'
import { insertAccount } from '../support/clients/people.ts'
import { addToken } from '../support/clients/tokens.ts'
import { type Tab, useConsole } from '../support/console/console.ts'
import { press, stageNew } from '../support/console/records.ts'
import { startWorld } from '../support/dns/world.ts'
import { useService } from '../support/harness.ts'

// The pictures of docs/console.md. PICTURES=<folder> makes them: `PICTURES=docs/console npm test -- console/pictures`.

const service = useService()
const { test, openTab } = useConsole(service)

const NAME = 'shop.example'
const FOLDER = join(projectFolder(), 'docs', 'console')
const WIDTH = 1000
/** Octets of all pictures. */
const MOST = 300_000

ava('the pictures that documents show are those of the folder, and small', (t) => {
  const shown = ['README.md', 'docs/console.md'].flatMap((path) =>
    Array.from(readFileSync(join(projectFolder(), path), 'utf8').matchAll(/!\[[^\]]+\]\(\S*console\/(\S+)\)/g)),
  )
  const pictures = readdirSync(FOLDER)
  t.deepEqual([...new Set(shown.map(([, file]) => file!))].sort(), pictures.sort())
  const octets = pictures.map((file) => statSync(join(FOLDER, file)).size).reduce((a, b) => a + b, 0)
  t.true(octets <= MOST, `${octets} octets`)
})

const open = (path: string, secret: string): Promise<Tab> =>
  openTab({ path, secret, viewport: { width: WIDTH, height: 760 }, locale: 'en-GB' })

test('a shop’s domain is changed, looked at and made secure, as the pictures show', async (t) => {
  const world = await startWorld(service().powerDns)
  t.teardown(() => world.close())
  Object.assign(service().system, { parents: world.parents() })
  const id = await insertAccount(service().system, { email: 'you@shop.example' })
  const { api, secret } = await addToken(service(), id, {
    name: 'laptop',
    permCreateDomain: true,
    permDeleteDomain: true,
    permManageTokens: true,
  })
  await newDomain(api, NAME)
  await world.delegate(['ns1.zoneplane.test', 'ns2.zoneplane.test'].map((host) => `${NAME}. NS ${host}.`))
  for (const rrset of [
    { subname: '', type: 'A', ttl: 3600, records: ['192.0.2.10'] },
    { subname: '', type: 'MX', ttl: 3600, records: [`10 mail.${NAME}.`] },
    { subname: '', type: 'TXT', ttl: 3600, records: ['"v=spf1 mx -all"'] },
    { subname: '_dmarc', type: 'TXT', ttl: 3600, records: ['"v=DMARC1; p=reject"'] },
    { subname: 'mail', type: 'A', ttl: 3600, records: ['192.0.2.25'] },
  ])
    await newRRset(api, NAME, rrset)
  const router = await addToken(service(), id, { name: 'office router' })
  await newRRset(router.api, NAME, { subname: 'office', type: 'A', ttl: 300, records: ['198.51.100.7'] })
  const { page } = await open(`domains/${NAME}`, secret)

  await page.getByText('7 record sets').waitFor()
  await stageNew(page, 'www', 'CNAME', `${NAME}.`, '3600')
  await stageNew(page, '@', 'MX', `20 backup.${NAME}.`)
  await page.getByRole('button', { name: 'Edit office A' }).focus()
  await press(page, 'Delete')
  await page.getByText(`3 changes to ${NAME}`).waitFor()
  await picture(page, 'records')
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByText('Creates 1 record set').waitFor()
  await picture(page, 'review', 'dialog')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText(/, served by ns1/).waitFor()

  await page.getByRole('link', { name: 'History' }).click()
  const last = page.locator('.entries > li').first()
  await last.locator('summary').click()
  await last.getByText('Creates 1 record set').waitFor()
  await picture(page, 'history')

  await page.getByRole('link', { name: 'DNSSEC' }).click()
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('One step is left: give your registrar the DS record').waitFor()
  await picture(page, 'dnssec')

  await page.getByRole('link', { name: 'Tokens' }).click()
  await page.getByRole('link', { name: 'Create a token' }).click()
  await page.getByLabel('Host name').fill(`www.${NAME}`)
  await page.getByLabel('Name of the token').fill('web server')
  await picture(page, 'token')
})

/** Keeps what the window shows, up to the end of an element. Playwright itself makes no WebP. */
async function picture(page: Page, name: string, end = 'main'): Promise<void> {
  const folder = process.env['PICTURES']
  if (folder === undefined) return
  const box = (await page.locator(end).boundingBox())!
  const height = Math.min(page.viewportSize()!.height, Math.ceil(box.y + box.height) + 16)
  const session = await page.context().newCDPSession(page)
  const clip = { x: 0, y: 0, width: WIDTH, height, scale: 1 }
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 85, clip })
  writeFileSync(join(folder, `${name}.webp`), data, 'base64')
}
