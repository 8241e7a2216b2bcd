import { type CDPSession, chromium, type Page } from 'playwright-core'
import { CHROMIUM } from '../test/support/servers/packages.ts'
import { makeDomains } from './support/many-domains.ts'
import { median, percentile, state } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { rrset, zone } from './support/zones.ts'

const RUNS = 10
const DOMAINS = 2_000
const RRSETS = 10_000
const LARGE = zone('-large')

/** The frames of a scroll, the pixels of each, and the longest that nobody sees, in milliseconds. */
const FRAMES = 300
const STEP = 300
const FRAME = 33

/** Rounds through the pages of a domain before the memory is measured first, and in all. */
const WARM_UP = 5
const ROUNDS = 60

/** Runs in each page: notes the times, in milliseconds after the navigation, at which something is there and drawn first. */
const NOTE = `
  window.times = {}
  const there = {
    domains: () => document.querySelector('table.list tbody tr'),
    rows: () => document.querySelector('.record-row'),
    whole: () => /^[\\d,]+ record sets$/.test(document.querySelector('.tools [role=status]')?.textContent),
    filtered: () => / of /.test(document.querySelector('.tools [role=status]')?.textContent),
    goals: () => document.querySelector('dialog.goals input')?.value === '7' && document.querySelector('[role=option]'),
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
    first: Math.min(...of(/\\/(domains\\/\\?|rrsets\\/)/).map(({ responseEnd }) => responseEnd)),
  }
})()`

/** How long the console takes to show domains and the records of a large zone, and what it loads for that. */
export async function consolePages(setup: Setup): Promise<void> {
  const { api, url, secret } = setup
  await makeDomains(setup, DOMAINS)
  await api('POST', '/domains/', { name: LARGE })
  const large = `/domains/${LARGE}/rrsets/`
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
    const [rows, whole, filtered, goals]: number[][] = [[], [], [], []]
    for (let i = 0; i < RUNS; i++) {
      await page.goto(`${url}/console/`)
      first.push((await times(page, 'domains'))['domains']! - (await arrivals(page)).first)
      if (i === 0) await stateSizes(page, `the list of ${DOMAINS} domains`)
      await page.goto(`${url}/console/domains/${LARGE}`)
      const seen = await times(page, 'whole')
      const arrived = await arrivals(page)
      rows!.push(seen['rows']! - arrived.first)
      whole!.push(seen['whole']! - arrived.arrived)
      if (i === 0) await stateSizes(page, `a zone of ${RRSETS} record sets`)
      await page.getByLabel('Filter').focus()
      await page.keyboard.type('7')
      const { key, filtered: drawn } = await times(page, 'filtered')
      filtered!.push(drawn! - key!)
      await page.keyboard.press('Control+k')
      await page.getByRole('option').first().waitFor()
      await page.evaluate('times = {}')
      await page.keyboard.type('7')
      const chosen = await times(page, 'goals')
      goals!.push(chosen['goals']! - chosen['key']!)
    }
    const show = (what: string, list: number[]) => {
      state(`console: ${what}, p50`, `${median(list).toFixed(0)} ms`)
    }
    show(`first of ${DOMAINS} domains arrived to rows`, first)
    show(`first of ${RRSETS} record sets arrived to rows`, rows!)
    show(`last of ${RRSETS} record sets arrived to rows`, whole!)
    show(`key in the filter of ${RRSETS} record sets to rows`, filtered!)
    show(`key in Go to… with ${DOMAINS} domains to its list`, goals!)
    await page.goto(`${url}/console/domains/${LARGE}`)
    await times(page, 'whole')
    await stateFrames(page)
    await stateMemory(page)
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

/** When the first and the last data of a page arrived, in milliseconds after the navigation. */
async function arrivals(page: Page): Promise<{ first: number; arrived: number }> {
  return page.evaluate<{ first: number; arrived: number }>(TRANSFERS)
}

/** How long the frames take while the records are scrolled. */
async function stateFrames(page: Page): Promise<void> {
  const frames = await page.evaluate<number[]>(`new Promise((resolve) => {
    const frames = []
    let last
    const step = (now) => {
      if (last !== undefined) frames.push(now - last)
      last = now
      scrollBy(0, ${STEP})
      if (frames.length < ${FRAMES}) requestAnimationFrame(step)
      else resolve(frames)
    }
    requestAnimationFrame(step)
  })`)
  const sorted = frames.sort((a, b) => a - b)
  const long = sorted.filter((time) => time > FRAME).length
  state('console: frames while scrolling, p50', `${median(sorted).toFixed(0)} ms`)
  const [p99, longest] = [percentile(sorted, 0.99), sorted.at(-1)!].map((time) => time.toFixed(0))
  state('console: the same, p99 and longest', `${p99} ms, ${longest} ms; ${long} of ${FRAMES} above ${FRAME} ms`)
}

/** Whether the memory of the page grows while somebody goes through the pages of a domain. */
async function stateMemory(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const open = async (tab: string) => {
    await page.getByRole('link', { name: tab, exact: true }).click()
    await page.locator('nav a[aria-current=page]', { hasText: tab }).waitFor()
  }
  let before = 0
  for (let round = 0; round < ROUNDS; round++) {
    if (round === WARM_UP) before = await heap(session)
    await open('History')
    await open('DNSSEC')
    await open('Records')
    await page.locator('.record-row').first().waitFor()
    await page.getByLabel('Filter').fill('77')
    await page.getByLabel('Filter').fill('')
    await page.mouse.wheel(0, 5_000)
  }
  const after = await heap(session)
  const [from, to] = [before, after].map((octets) => (octets / 1e6).toFixed(1))
  state(`console: heap after ${WARM_UP} and ${ROUNDS} rounds`, `${from} MB, ${to} MB`)
}

/** Octets that the page's objects have after a collection. */
async function heap(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  return (await session.send('Runtime.getHeapUsage')).usedSize
}
