import { newDomain, newRRset, rrset } from '../support/clients/api.ts'
import { check, useConsole } from '../support/console/console.ts'
import { useService } from '../support/harness.ts'

// Records are found in all domains.

const service = useService()
const { test, openTab } = useConsole(service)

const ADDRESS = '192.0.2.77'

test('which records have an address, and what a name has', async (t) => {
  const stranger = await service().account()
  await newRRset(stranger.api, await newDomain(stranger.api), rrset({ records: [ADDRESS] }))
  const { api, secret } = await service().account()
  const domains = [await newDomain(api), await newDomain(api)]
  for (const domain of domains) {
    await newRRset(api, domain, rrset({ subname: 'a', records: ['192.0.2.1', ADDRESS] }))
    await newRRset(api, domain, rrset({ subname: 'b', records: ['192.0.2.1'] }))
  }
  const { page } = await openTab({ secret })
  await page.getByRole('link', { name: 'Search' }).click()
  await page.getByLabel('Content or name').fill(` ${ADDRESS} `)
  await page.keyboard.press('Enter')
  const contents = page.getByRole('region', { name: 'With this content' })
  const names = page.getByRole('region', { name: 'Of this name' })
  await contents.getByRole('link').first().waitFor()
  t.deepEqual(
    await contents.getByRole('link').allTextContents(),
    domains.map((domain) => `a.${domain}.`),
  )
  await names.getByText(`There are no records at ${ADDRESS}`).waitFor()
  await check(t, page, 'search')
  // The link shows the domain's records with this content.
  await contents.getByRole('link').first().click()
  await page.getByRole('heading', { name: domains[0]! }).waitFor()
  await page.getByText('1 of 3 record sets').waitFor()
  t.is(await page.getByLabel('Filter').inputValue(), 'name:a type:A')
  await page.goBack()
  await contents.getByRole('link').first().waitFor()
  t.is(await page.getByLabel('Content or name').inputValue(), ADDRESS)

  await page.getByLabel('Content or name').fill(`B.${domains[1]!}`)
  await page.getByRole('button', { name: 'Search' }).click()
  await names.getByRole('link', { name: `b.${domains[1]!}.` }).click()
  await page.getByText('1 of 3 record sets').waitFor()
  t.is(await page.getByLabel('Filter').inputValue(), 'name:b type:A')
  // Back, to this search and to the one before it.
  await page.goBack()
  await names.getByRole('link').waitFor()
  t.is(await page.getByLabel('Content or name').inputValue(), `B.${domains[1]!}`)
  await page.goBack()
  await contents.getByRole('link').first().waitFor()
  t.is(await page.getByLabel('Content or name').inputValue(), ADDRESS)
})
