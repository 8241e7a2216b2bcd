import type { Locator } from 'playwright-core'
import { rrset } from '../support/clients/api.ts'
import { stageNew, useRecords } from '../support/console/records.ts'
import { useService } from '../support/harness.ts'

// Where the system chooses the colours, those of the console do not tell anything.

const service = useService()
const { test, openZone } = useRecords(service)

/** The pixels of an element. */
const picture = async (element: Locator) => (await element.screenshot()).toString('base64')

test('with forced colours, people see where they are, what is staged, and the dot of a state', async (t) => {
  const { zone, page } = await openZone(rrset())
  await page.emulateMedia({ forcedColors: 'active' })
  const [records, history, side, row] = [
    '.tabs a >> nth=0',
    '.tabs a >> nth=1',
    '.side nav a[href$=account]',
    '.record-row >> nth=0',
  ].map((selector) => page.locator(selector)) as [Locator, Locator, Locator, Locator]
  const edge = async () => {
    const { x, y } = (await row.boundingBox())!
    return (await page.screenshot({ clip: { x, y: y + 4, width: 3, height: 20 } })).toString('base64')
  }
  const before = [await picture(records), await edge()]
  // At the apex, before all others.
  await stageNew(page, '@', 'A', '192.0.2.9')
  t.not(await picture(records), before[0], 'the dot of staged changes')
  t.not(await edge(), before[1], 'the edge of a new row')
  const [ground, dot] = await page.evaluate<string[]>(`(() => {
    const state = document.querySelector('.state')
    return [null, '::before'].map((part) => getComputedStyle(state, part).backgroundColor)
  })()`)
  t.not(dot, ground)
  const others = [await picture(history), await picture(side)]
  await page.goto(`${service().url}/console/domains/${zone.domain}/history`)
  await page.locator('.entries').first().waitFor()
  t.not(await picture(history), others[0], 'the present tab')
  await page.goto(`${service().url}/console/account`)
  await page.getByText('Your address is').waitFor()
  t.not(await picture(side), others[1], 'the present part')
})
