import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { useBrowser, watch } from '../support/browser.ts'
import { focused, press, tabTo } from '../support/console/records.ts'
import { lookUp } from '../support/dns/dns.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { newFolder } from '../support/servers/folders.ts'
import { startOurs } from '../support/servers/programs.ts'

// What somebody does who has started the service for the first time.

const { test, browser } = useBrowser()

const DOMAIN = 'example.test'

test('from `npm start` to a record in DNS, and back, by keyboard alone', async (t) => {
  const begun = performance.now()
  const folder = newFolder()
  const env = { PATH: process.env['PATH'], PORT: '0', DNS_PORT: '0', ZONEPLANE_DATA: folder }
  const { child, ended, output } = startOurs(['start'], env)
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const [, url, dnsHost, dnsPort] = (await eventually(
    () => /Open {3}(\S+)\/#token and sign in [^]*DNS {4}(\S+) port (\d+)/.exec(output()),
    (found) => found !== null,
  )) as unknown as string[]
  const server = { dnsHost: dnsHost!, dnsPort: Number(dnsPort) }
  const started = performance.now()

  const page = await browser().newPage()
  const found = watch(page, url!, /^(?!Failed to load resource: the server responded)/)
  await page.goto(`${url}/#token`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await eventuallyIs(() => focused(page), 'Token')
  await page.keyboard.type(readFileSync(join(folder, 'token'), 'utf8').trim())
  await press(page, 'Enter')
  await page.getByRole('link', { name: DOMAIN }).waitFor()
  await tabTo(page, DOMAIN)
  await press(page, 'Enter')
  await page.getByText(/^[\d,]+ record sets?$/).waitFor()
  const types = new Set(await page.locator('.record-row .badge').allInnerTexts())
  for (const type of ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'SRV', 'TLSA', 'TXT']) t.true(types.has(type), type)
  await press(page, 'n')
  await page.keyboard.type('console')
  await tabTo(page, 'IPv4 address')
  await page.keyboard.type('192.0.2.77')
  // Stages, and reviews.
  await press(page, 'Control+Enter')
  await page.getByText('Creates 1 record set.').waitFor()
  await tabTo(page, 'Apply 1 change Ctrl ↵')
  await press(page, 'Enter')
  await page.getByText(/^Applied: /).waitFor()
  await eventuallyIs(() => lookUp(server, `console.${DOMAIN}`, 'A'), ['192.0.2.77'])
  const served = performance.now()
  await page.getByRole('button', { name: 'Undo' }).waitFor()
  await tabTo(page, 'Undo')
  await press(page, 'Enter')
  await page.getByText('Removes 1 record set.').waitFor()
  await tabTo(page, 'Apply Ctrl ↵')
  await press(page, 'Enter')
  await eventuallyIs(() => lookUp(server, `console.${DOMAIN}`, 'A'), [])
  t.deepEqual(found, [])
  await page.close()
  const seconds = (from: number, to: number) => ((to - from) / 1000).toFixed(1)
  t.log(
    `ready after ${seconds(begun, started)} s, the record served ${seconds(started, served)} s later, and undone after ` +
      `${seconds(served, performance.now())} s more`,
  )
})
