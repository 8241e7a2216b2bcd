import { newDomain, newRRset, newZone, succeeded } from '../support/clients/api.ts'
import { useConsole } from '../support/console/console.ts'
import { stageNew } from '../support/console/records.ts'
import { lookUp } from '../support/dns/dns.ts'
import { useService } from '../support/harness.ts'

// PTR proposals in the review of the records page.

const service = useService()
const { test, openRecords } = useConsole(service)

test('the review offers the PTR that fits, and applies what is ticked, unless that domain has changed', async (t) => {
  const { api, account, domain } = await newZone(service())
  const reverse = await newDomain(api, '2.0.192.in-addr.arpa')
  await newRRset(api, reverse, { subname: '2', type: 'PTR', records: ['old.test.'] })
  const { page } = await openRecords(domain, account.secret)
  const review = async (...names: string[]) => {
    await page.getByRole('button', { name: 'Review' }).click()
    await page.getByText('PTR that would fit').waitFor()
    t.is(await page.getByRole('checkbox', { name: /→/, checked: true }).count(), 0)
    for (const name of names) await page.getByLabel(name, { exact: true }).check()
  }
  const pointer = (subname: string) => lookUp(service().powerDns, `${subname}.${reverse}`, 'PTR')
  const applied = page.getByText(/^Applied: 1 change/)

  await stageNew(page, 'a', 'A', '192.0.2.1')
  await review()
  await page.getByRole('button', { name: /^Apply/ }).click()
  await applied.waitFor()
  t.deepEqual(await pointer('1'), [])

  await stageNew(page, 'b', 'A', '192.0.2.2')
  await review(`2.${reverse}: old.test. → b.${domain}.`)
  await page.getByRole('button', { name: /^Apply/ }).click()
  await applied.waitFor()
  t.deepEqual(await pointer('2'), [`b.${domain}.`])

  await stageNew(page, 'c', 'A', '192.0.2.3')
  await review(`3.${reverse}: none → c.${domain}.`)
  succeeded(await api.delete(`/domains/${reverse}/rrsets/2/PTR/`), 204)
  await page.getByRole('button', { name: /^Apply/ }).click()
  await page.getByText(`Not written: PTR in ${reverse}: Precondition failed.`).waitFor()
  t.deepEqual(await lookUp(service().powerDns, `c.${domain}`, 'A'), ['192.0.2.3'])
  t.deepEqual(await pointer('3'), [])
})
