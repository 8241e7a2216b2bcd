import { partsOfDnskey, partsOfDs } from '../../console/dnssec/dnssec.ts'
import { currentTime, later } from '../../src/time.ts'
import { domainOf, newDomain, succeeded } from '../support/clients/api.ts'
import { addToken } from '../support/clients/tokens.ts'
import { check, useConsole } from '../support/console/console.ts'
import { apply } from '../support/console/records.ts'
import { startWorld, type World } from '../support/dns/world.ts'
import { useService } from '../support/harness.ts'
import { enter, passTime } from '../support/rollovers/steps.ts'

// The pages about the DNSSEC and the nameservers of a domain.

const service = useService({ PRIVATE_TRANSFERS: 'on' })
const { test, openTab } = useConsole(service)
let world: World

test('a person sees that the DS is missing, gives it to the registrar, and then replaces the key', async (t) => {
  world = await startWorld(service().powerDns)
  t.teardown(() => world.close())
  Object.assign(service().system, { parents: world.parents() })
  const { api, secret } = await service().account()
  const name = await newDomain(api, 'shop.example')
  const hosts = ['ns1.zoneplane.test', 'ns2.zoneplane.test'].map((host) => `${name}. NS ${host}.`)
  await world.delegate(hosts)
  const { page } = await openTab({ path: `domains/${name}/dnssec`, secret })
  await page.getByRole('heading', { name: 'Not checked yet: choose “Check now”' }).waitFor()
  // The resolvers of the test know every parent zone.
  const problems = ['The resolvers of this service do not tell which zone delegates the domain.']
  await page.route('**/delegation/', async (route) => {
    const answer = (await (await route.fetch()).json()) as object
    await route.fulfill({ json: { ...answer, checked: '2026-01-31T12:00:00.000000Z', problems } })
  })
  await page.reload()
  await page.getByRole('heading', { name: 'The first step: have the domain registered' }).waitFor()
  await page.getByText('check again later, or ask the operator').waitFor()
  await check(t, page, 'dnssec-unknown')
  await page.unroute('**/delegation/')
  await page.reload()
  for (const i of [1, 2]) {
    await page.getByRole('code').getByText(`ns${i}.zoneplane.test`, { exact: true }).waitFor()
    await page.getByRole('button', { name: `Copy nameserver ${i} of the nameservers` }).waitFor()
  }
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByRole('heading', { name: 'One step is left: give your registrar the DS record' }).waitFor()
  await page.getByText(/Add the DS record/).waitFor()
  await page.getByText('What the parent’s servers answer').click()
  await page.getByText('My registrar wants the public key instead').click()
  await page.getByRole('button', { name: 'Copy public key of the key' }).waitFor()
  await check(t, page, 'dnssec-insecure')

  const { keys } = await domainOf(api, name)
  const ds = keys[0]!.ds.find((text) => text.split(' ')[2] === '2')!
  await page.getByRole('button', { name: 'Copy the DS record', exact: true }).first().waitFor()
  t.true((await page.getByRole('main').innerText()).includes(ds))
  await world.delegate([...hosts, `${name}. DS ${ds}`])

  await page.getByRole('heading', { name: 'Replace the key' }).click()
  await page.getByRole('combobox').selectOption('ed25519')
  await page.getByRole('button', { name: 'Replace the key' }).click()
  const step = page.locator('[aria-current=step]')
  await step.getByText('Sign', { exact: true }).waitFor()
  await page.getByRole('heading', { name: 'Nothing to do but wait: the key is being replaced' }).waitFor()
  const head = page.locator('.head')
  await head.getByText('Key is being replaced', { exact: true }).waitFor()
  await check(t, page, 'dnssec-rollover-begun')
  for (const words of ['Publish', 'Wait for the DS record']) {
    await passTime(service(), name)
    while (!(await step.getByText(words).isVisible())) await page.getByRole('button', { name: 'Look again' }).click()
  }
  await step.getByText('Waits for the DS record at the parent, since just now.').waitFor()
  await page.getByRole('heading', { name: 'One step is left for you: replace the DS record' }).waitFor()
  await head.getByText('New DS needed at registrar', { exact: true }).waitFor()
  await check(t, page, 'dnssec-rollover')
  const { add_ds: added } = succeeded(await api.get(`/domains/${name}/rollover/`), 200).json as { add_ds: string[] }
  await page
    .getByText(
      added.find((text) => text.split(' ')[2] === '2')!,
      { exact: true },
    )
    .first()
    .waitFor()
  await page.getByRole('button', { name: 'Go back to the former key' }).click()
  // The rollover has turned round.
  const panel = page.getByRole('region', { name: 'What to enter at your registrar' })
  await panel.locator('dl').first().getByText(ds, { exact: true }).waitFor()
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByText(/Key replacement: Both keys are in the zone, and sign\.$/).waitFor()
  await page.getByText(/Key replacement cancelled\.$/).waitFor()
  await check(t, page, 'dnssec-history')
})

test('a domain below one of one’s own gets its NS and DS by a click and the review there', async (t) => {
  const { api, secret, id } = await service().account()
  world = await startWorld(service().powerDns)
  t.teardown(() => world.close())
  Object.assign(service().system, { parents: world.parents() })
  const parent = await newDomain(api, 'parent.example')
  await world.delegate([1, 2].map((i) => `${parent}. NS ns${i}.zoneplane.test.`))
  const name = await newDomain(api, `child.${parent}`)
  const path = `domains/${name}/dnssec`
  const { page } = await openTab({ path, secret })
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByRole('heading', { name: `One step is left: add the records below to ${parent}` }).waitFor()
  const { keys } = await domainOf(api, name)
  const ds = keys[0]!.ds.find((text) => text.split(' ')[2] === '2')!
  const shown = page.getByRole('region', { name: 'Records to add' })
  const nameservers = [1, 2].map((i) => `${name}. 3600 IN NS ns${i}.zoneplane.test.`)
  t.is((await shown.innerText()).replace(/\s+/g, ' ').trim(), [...nameservers, `${name}. 300 IN DS ${ds}`].join(' '))
  await page.getByRole('button', { name: 'Copy the records' }).waitFor()
  await check(t, page, 'dnssec-own-parent')

  // A token that may change the domain alone is told what to enter, without the button.
  const plain = await addToken(service(), id)
  const policies = `/auth/tokens/${plain.id}/policies/rrsets/`
  const everywhere = { domain: null, subname: null, type: null, perm_write: false }
  for (const policy of [everywhere, { ...everywhere, domain: name, perm_write: true }]) {
    succeeded(await api.post(policies, policy), 201)
  }
  const other = await openTab({ path, secret: plain.secret })
  await other.page.getByRole('heading', { name: 'What to enter at your registrar' }).waitFor()
  t.is(await other.page.getByRole('button', { name: `Add to ${parent}` }).count(), 0)

  await page.getByRole('button', { name: `Add to ${parent}` }).click()
  t.like(await api.get(`/domains/${parent}/rrsets/child/NS/`), { status: 404 })
  await apply(page)
  for (const [type, ttl, records] of [
    ['NS', 3600, ['ns1.zoneplane.test.', 'ns2.zoneplane.test.']],
    ['DS', 300, [ds]],
  ] as const) {
    t.like(succeeded(await api.get(`/domains/${parent}/rrsets/child/${type}/`), 200).json, { ttl, records })
  }
  // A check answers for some seconds.
  const { now } = service().system
  Object.assign(service().system, { now: () => later(currentTime(), 60) })
  await page.goto(`${service().url}/console/${path}`)
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByRole('heading', { name: 'Nothing is left to do: the domain is secure' }).waitFor()
  await page.getByRole('heading', { name: 'What to enter at your registrar' }).waitFor()
  Object.assign(service().system, { now })
})

test('who may not delete the domain is not offered to replace its key; a login forces it after a dialog', async (t) => {
  const { api, id } = await service().account()
  const name = await newDomain(api)
  const path = `domains/${name}/dnssec`
  const plain = await addToken(service(), id)
  const refused = await openTab({ path, secret: plain.secret })
  await refused.page.getByRole('heading', { name: 'What to enter at your registrar' }).waitFor()
  await refused.page.getByText('My registrar wants the public key instead').waitFor()
  t.is(await refused.page.getByRole('heading', { name: 'Replace the key' }).count(), 0)

  const login = await addToken(service(), id, { mfa: false, permDeleteDomain: true })
  const { page } = await openTab({ path, secret: login.secret })
  await page.getByRole('heading', { name: 'Replace the key' }).click()
  await page.getByRole('button', { name: 'Go back to the former key' }).click()
  await page.getByText('There are no former keys of this domain.').waitFor()
  succeeded(await api.post(`/domains/${name}/rollover/`, {}), 201)
  await enter(service(), name, 'await-ds')
  await page.reload()
  const asked: string[] = []
  const answers = [false, true]
  page.on('dialog', (dialog) => {
    asked.push(dialog.message())
    void (answers.shift() === true ? dialog.accept() : dialog.dismiss())
  })
  const confirm = page.getByRole('button', { name: 'Confirm: the parent has only the new DS record' })
  await confirm.click()
  await page.getByText(/^It is unknown whether the parent zone still has the former DS/).waitFor()
  t.like(succeeded(await api.get(`/domains/${name}/rollover/`), 200).json, { phase: 'await-ds' })
  await confirm.click()
  while (!(await page.locator('[aria-current=step]').getByText('Let caches expire').isVisible()))
    await page.getByRole('button', { name: 'Look again' }).click()
  t.is(asked.length, 2)
  t.regex(asked[0]!, /without whose key validating resolvers would reject the domain/)
})

test('a person lets a secondary transfer the zone, and gets its lines once', async (t) => {
  const { api, secret } = await service().account()
  const name = await newDomain(api)
  const { page } = await openTab({ path: `domains/${name}/nameservers`, secret })
  await page.getByText(/^Version \d+$/).waitFor()
  await page.getByRole('row', { name: /^ns1\.zoneplane\.test Up to date \d+$/ }).waitFor()
  await page.getByRole('row', { name: /^ns2\.zoneplane\.test Not asked This service does not watch it/ }).waitFor()
  await page.getByText('Served by ns1.zoneplane.test, 1 not asked').waitFor()
  await page.getByLabel('May transfer').fill('192.0.2.7 nonsense')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('nonsense: Invalid CIDR address.').waitFor()
  await page.getByLabel('May transfer').fill('192.0.2.7\n2001:db8::/64')
  await page.getByLabel('Are told of changes').fill('192.0.2.7\n192.0.2.8')
  await page.getByLabel('With a TSIG key').check()
  await page.getByRole('button', { name: 'Save' }).click()
  const words = '192.0.2.8: Must also stand under “May transfer”.'
  await page.getByText(words).waitFor()
  // The problem is about what was sent.
  await page.getByLabel('Are told of changes').fill('192.0.2.7')
  t.true(await page.getByText(words).isVisible())
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved. The new key is below: copy it now.', { exact: true }).waitFor()
  t.is(await page.evaluate('document.activeElement.getAttribute("aria-labelledby")'), 'tsig')
  t.true(await page.evaluate('document.activeElement.getBoundingClientRect().top < 100'))
  t.regex(await page.getByLabel('Lines for NSD', { exact: true }).innerText(), new RegExp(`name: "${name}"`))
  await check(t, page, 'nameservers')
  t.like(succeeded(await api.get(`/domains/${name}/transfers/`), 200).json, { notify: ['192.0.2.7'], tsig: true })
  await page.reload()
  await page.getByLabel('With a TSIG key').waitFor()
  t.is(await page.getByLabel('Lines for NSD', { exact: true }).count(), 0)
  await page.getByText('Its key was shown once.').waitFor()
  await check(t, page, 'nameservers-key-shown')
  await page.getByLabel('With a TSIG key').uncheck()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved. A removed address or key can work for another minute.', { exact: true }).waitFor()
  t.is(await page.getByText('Its key was shown once.').count(), 0)
})

test('records are taken apart as forms of registrars ask for them', (t) => {
  const shown = (parts: { label: string; shown: string }[]) =>
    parts.map(({ label, shown: text }) => `${label}: ${text}`)
  t.deepEqual(shown(partsOfDs('12345 13 2 9f86d081')), [
    'Key tag: 12345',
    'Algorithm: 13 (ECDSA P-256/SHA-256)',
    'Digest type: 2 (SHA-256)',
    'Digest: 9f86d081',
  ])
  t.deepEqual(shown(partsOfDnskey('257 3 253 AwEA AaM=')), [
    'Flags: 257',
    'Protocol: 3',
    'Algorithm: 253',
    'Public key: AwEAAaM=',
  ])
})
