import { chromium, type Page } from 'playwright-core'
import { CHROMIUM } from '../test/support/servers/packages.ts'
import { median, state } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { rrset, zone } from './support/zones.ts'

const RUNS = 10
const DOMAINS = 50
const RRSETS = 10_000

/** Runs in each page: notes the times, in milliseconds after the navigation, at which something is there and drawn first. */
const NOTE = `
  window.times = {}
  const there = {
    domains: () => document.querySelector('table.list tbody tr'),
    rows: () => document.querySelector('.record-row'),
    whole: () => /^[\\d,]+ record sets$/.test(document.querySelector('.tools [role=status]')?.textContent),
    filtered: () => / of /.test(document.querySelector('.tools [role=status]')?.textContent),
  }
  const note = (name) => requestAnimationFrame(() => setTimeout(() => (times[name] ??= performance.now())))
  new MutationObserver(() => {
    for (const [name, isThere] of Object.entries(there)) if (!(name in times) && isThere()) note(name)
  }).observe(document, { childList: true, subtree: true, characterData: true })
  document.addEventListener('keydown', ({ timeStamp }) => (times.key ??= timeStamp), true)`

/** Runs in the page: what came over the wire, by kind, in octets; and when the last RRsets came. */
const TRANSFERS = `(() => {
  const entries = performance.getEntriesByType('resource')
  const of = (words) => entries.filter(({ name }) => words.test(name))
  const octets = (words) => of(words).reduce((sum, { transferSize }) => sum + transferSize, 0)
  return {
    page: performance.getEntriesByType('navigation')[0].transferSize, script: octets(/\\.js$/), style: octets(/\\.css$/), api: octets(/\\/api\\//),
    arrived: Math.max(0, ...of(/\\/rrsets\\//).map(({ responseEnd }) => responseEnd)),
  }
})()`

/** How long the console takes to show domains and the records of a large zone, and what it loads for that. */
export async function consolePages({ api, url, secret }: Setup): Promise<void> {
  for (let i = 0; i < DOMAINS; i++) await api('POST', '/domains/', { name: zone(i) })
  const large = `/domains/${zone(0)}/rrsets/`
  // From 1, because the apex NS RRset counts.
  const rrsets = Array.from({ length: RRSETS - 1 }, (_, i) => rrset(`host${i}`, i))
  await api('POST', large, rrsets)
  const browser = await chromium.launch({ executablePath: CHROMIUM })
  try {
    const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
    await page.addInitScript(NOTE)
    await page.goto(`${url}/console/#token`)
    await page.getByLabel('Token').fill(secret)
    await page.keyboard.press('Enter')
    await page.locator('table.list').waitFor()
    await stateSizes(page, 'the first visit')
    const first: number[] = []
    const [rows, whole, filtered]: number[][] = [[], [], []]
    for (let i = 0; i < RUNS; i++) {
      await page.goto(`${url}/console/`)
      first.push((await times(page, 'domains'))['domains']!)
      if (i === 0) await stateSizes(page, `the list of ${DOMAINS} domains`)
      await page.goto(`${url}/console/domains/${zone(0)}`)
      const seen = await times(page, 'whole')
      const { arrived } = await page.evaluate<{ arrived: number }>(TRANSFERS)
      rows!.push(seen['rows']!)
      whole!.push(seen['whole']! - arrived)
      if (i === 0) await stateSizes(page, `a zone of ${RRSETS} record sets`)
      await page.getByLabel('Filter').focus()
      await page.keyboard.type('7')
      const { key, filtered: drawn } = await times(page, 'filtered')
      filtered!.push(drawn! - key!)
    }
    const show = (what: string, list: number[]) => {
      state(`console: ${what}, p50`, `${median(list).toFixed(0)} ms`)
    }
    show(`navigation to rows of ${DOMAINS} domains`, first)
    show(`navigation to first rows of ${RRSETS} record sets`, rows!)
    show(`last of ${RRSETS} record sets arrived to rows`, whole!)
    show(`key in the filter of ${RRSETS} record sets to rows`, filtered!)
  } finally {
    await browser.close()
  }
}

/** The times that `NOTE` has noted, once that of `name` is among them. */
async function times(page: Page, name: string): Promise<Record<string, number>> {
  return page.evaluate(`new Promise((resolve) => {
    const look = () => (times.${name} === undefined ? setTimeout(look, 5) : resolve(times))
    look()
  })`)
}

async function stateSizes(page: Page, what: string): Promise<void> {
  const sizes = await page.evaluate<Record<string, number>>(TRANSFERS)
  const shown = ['page', 'script', 'style', 'api'].map((kind) => `${kind} ${(sizes[kind]! / 1000).toFixed(1)} kB`)
  state(`console: over the wire for ${what} `, shown.join(', '))
}
