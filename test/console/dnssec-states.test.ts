import type { Page } from 'playwright-core'
import { suspend } from '../../src/service/operation/suspension.ts'
import { newDomain, succeeded } from '../support/clients/api.ts'
import { check, useConsole } from '../support/console/console.ts'
import { useService } from '../support/harness.ts'

// The page of a domain's security in all states of its chain and of its rollover, which would take days: the browser is given
// them in the service's place.

const service = useService()
const { test, openTab } = useConsole(service)

const CHECKED = {
  checked: '2026-01-31T12:00:00.000000Z',
  parent: 'example',
  ds_ttl: 3600,
  nameservers: [{ name: 'a.nic.example', address: '192.0.2.1', ns: ['ns1.example.net'], ds: [], problem: null }],
  problems: [],
}
const SILENT = { ...CHECKED.nameservers[0], problem: 'does not answer' }
const ROLLOVER = { since: '2026-01-30T12:00:00.000000Z', emergency: false, can_cancel: true, add_ds: [], remove_ds: [] }

/** What the API answers about the delegation and the rollover, and the turn and the words on the last link. */
const STATES: [delegation: object, rollover: object | undefined, turn: string, link: string][] = [
  [{ ...CHECKED, state: 'secure' }, undefined, 'Done', 'DS record'],
  [{ ...CHECKED, state: 'secure', parent: '', problems: ['A warning.'] }, undefined, 'Your turn', 'DS record'],
  [{ ...CHECKED, state: 'insecure', ds_ttl: null }, undefined, 'Your turn', 'no DS record'],
  [{ ...CHECKED, state: 'mismatch' }, undefined, 'Your turn', 'wrong DS record'],
  [{ ...CHECKED, state: 'stale' }, undefined, 'Your turn', 'a DS record too many'],
  [{ ...CHECKED, state: 'not-delegated', ds_ttl: null }, undefined, 'Your turn', 'not delegated'],
  [{ ...CHECKED, state: 'elsewhere', ds_ttl: null }, undefined, 'Your turn', 'other nameservers'],
  [{ ...CHECKED, state: 'unknown', ds_ttl: null, nameservers: [SILENT] }, undefined, 'Wait', 'not known'],
  [{ ...CHECKED, state: 'secure' }, { phase: 'queued', waits_for: 'turn' }, 'Wait', 'DS record'],
  [{ ...CHECKED, state: 'secure' }, { phase: 'sign', waits_for: 'nameservers', emergency: true }, 'Wait', 'DS record'],
  [{ ...CHECKED, state: 'partial' }, { phase: 'publish', waits_for: 'signers' }, 'Your turn', 'DS record'],
  [{ ...CHECKED, state: 'propagating' }, { phase: 'await-ds', waits_for: 'parent' }, 'Your turn', 'changing'],
  [{ ...CHECKED, state: 'secure' }, { phase: 'await-ds-ttl', waits_for: 'caches' }, 'Wait', 'DS record'],
  [
    { ...CHECKED, state: 'secure' },
    { phase: 'unpublish', waits_for: 'caches', can_cancel: false },
    'Wait',
    'DS record',
  ],
]

/** Gives the browser overviews in which the domains have this rollover. */
async function routeOverview(page: Page, rollover: () => { phase: string } | undefined): Promise<void> {
  await page.route('**/domains/?*overview=true*', async (route) => {
    const response = await route.fetch()
    const domains = (await response.json()) as object[]
    await route.fulfill({ response, json: domains.map((each) => ({ ...each, rollover: rollover()?.phase ?? null })) })
  })
}

test('each state of the chain and of the steps can be read, and says whose turn it is', async (t) => {
  const { api, secret } = await service().account()
  const name = await newDomain(api)
  const { keys } = succeeded(await api.get(`/domains/${name}/`), 200).json as { keys: { ds: string[] }[] }
  const { page } = await openTab({ secret })
  let [delegation, rollover] = STATES[0]!
  await page.route('**/delegation/', (route) => route.fulfill({ json: delegation }))
  await routeOverview(page, () => rollover as { phase: string } | undefined)
  await page.route('**/rollover/', async (route) => {
    if (rollover === undefined) throw new Error('the page asks for a rollover that there is not')
    const isAtParent = 'phase' in rollover && rollover.phase === 'await-ds'
    const ds = isAtParent ? { add_ds: keys[0]!.ds, remove_ds: [`1 13 2 ${'00'.repeat(32)}`] } : {}
    return route.fulfill({ json: { ...ROLLOVER, ...ds, ...rollover } })
  })
  for (const [i, [check_, rollover_, turn, link]] of STATES.entries()) {
    ;[delegation, rollover] = [check_, rollover_]
    await page.goto(`${service().url}/console/domains/${name}/dnssec`)
    const chain = page.getByRole('list', { name: 'Chain of trust' })
    await chain.waitFor()
    t.is(await chain.locator('.join').last().innerText(), link)
    t.is(await page.getByRole('main').locator('.panel .state').innerText(), turn, link)
    t.is(await page.getByRole('heading', { name: 'The key is being replaced', exact: true }).count(), rollover ? 1 : 0)
    // Whoever has nothing to enter sees only the title of what registrars ask for.
    const isOpen = await page.getByRole('button', { name: 'Copy digest of the DS record', exact: true }).isVisible()
    t.is(isOpen, turn === 'Your turn', link)
    await check(t, page, `dnssec-state-${i}`)
  }
})

test('of a suspended domain, only the operator has something to do', async (t) => {
  const { api, secret } = await service().account()
  const name = await newDomain(api)
  await suspend(service().system, name)
  const { page } = await openTab({ path: `domains/${name}/dnssec`, secret })
  await page.getByRole('heading', { name: 'Only the operator can act: this domain is suspended' }).waitFor()
  await page.getByText('The operator’s turn').waitFor()
  await page.getByText('suspended: its nameservers do not answer').waitFor()
  await check(t, page, 'dnssec-suspended')
})

test('a rollover at the parent has what to add, and what to remove after that', async (t) => {
  const { api, secret } = await service().account()
  const name = await newDomain(api)
  const { keys } = succeeded(await api.get(`/domains/${name}/`), 200).json as { keys: { ds: string[] }[] }
  const { page } = await openTab({ secret })
  const removed = `1 13 2 ${'00'.repeat(32)}`
  const problems = ['Add the DS record of before.']
  const old = { ...CHECKED, state: 'insecure', checked: '2026-01-29T12:00:00.000000Z', problems }
  await page.route('**/delegation/', (route) => route.fulfill({ json: old }))
  await routeOverview(page, () => ({ phase: 'await-ds' }))
  await page.route('**/rollover/', (route) =>
    route.fulfill({
      json: { ...ROLLOVER, phase: 'await-ds', waits_for: 'parent', add_ds: keys[0]!.ds, remove_ds: [removed] },
    }),
  )
  await page.goto(`${service().url}/console/domains/${name}/dnssec`)
  const registrar = page.getByRole('region', { name: 'What to enter at your registrar' })
  await registrar.getByRole('heading', { name: 'The new DS record' }).waitFor()
  t.is(await registrar.getByRole('listitem').innerText(), removed)
  // What a check found before the DS had to change would lead to the former one.
  t.is(await page.getByText(problems[0]!).count(), 0)
})
