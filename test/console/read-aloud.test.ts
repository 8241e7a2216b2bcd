import type { Locator } from 'playwright-core'
import { domainOf, newDomain, newRRset } from '../support/clients/api.ts'
import { useConsole } from '../support/console/console.ts'
import { press, stageNew, tabTo } from '../support/console/records.ts'
import { useService } from '../support/harness.ts'

// What a screen reader says of a page: the tree that the browser gives it. And what can be done without a mouse.

const service = useService()
const { test, openTab, openRecords } = useConsole(service)

/** The tree of an element, one line a node. Whether a text is in quotation marks is a matter of YAML. */
async function heard(part: Locator): Promise<string> {
  return `\n${(await part.ariaSnapshot()).replace(/: "(.*)"$/gm, ': $1')}\n`
}

test('the page of a domain’s security reads as a sentence, a chain, and fields with their buttons', async (t) => {
  const { api, secret } = await service().account()
  const name = await newDomain(api)
  const { keys } = await domainOf(api, name)
  const ds = keys[0]!.ds.find((text) => text.split(' ')[2] === '2')!
  const [tag, , , digest] = ds.split(' ')
  const { page } = await openTab({ path: `domains/${name}/dnssec`, secret })
  const outlook = page.getByRole('region', { name: /^Not checked yet/ })
  await outlook.waitFor()
  t.is(
    await heard(outlook),
    `
- 'region "Not checked yet: choose “Check now”"':
  - 'heading "Not checked yet: choose “Check now”" [level=2]'
  - paragraph: Your turn It shows what the parent zone has, and what is left to do.
  - list "Chain of trust":
    - listitem: . the root
    - listitem: not checked the zone above not asked yet
    - listitem: not checked ${name}. signed here, key ${tag!}
  - paragraph:
    - button "Check now"
`,
  )
  t.is(
    await heard(page.getByRole('region', { name: 'What to enter at your registrar' }).locator('dl').nth(1)),
    `
- term: Key tag
- definition:
  - code: ${tag!}
  - button "Copy key tag of the DS record": Copy
- term: Algorithm
- definition:
  - code: 13 (ECDSA P-256/SHA-256)
  - button "Copy algorithm of the DS record": Copy
- term: Digest type
- definition:
  - code: 2 (SHA-256)
  - button "Copy digest type of the DS record": Copy
- term: Digest
- definition:
  - code: ${digest!}
  - button "Copy digest of the DS record": Copy
- term: In one line
- definition:
  - code: ${ds}
  - button "Copy the DS record": Copy
`,
  )
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await tabTo(page, 'Copy digest of the DS record')
  await press(page, 'Enter')
  await page.getByText('Copied').waitFor()
  t.is(await page.evaluate('navigator.clipboard.readText()'), digest!)
  await tabTo(page, 'My registrar wants the public key instead')
  await press(page, 'Enter')
  await tabTo(page, 'Copy public key of the key')
  await tabTo(page, 'Replace the key')
  await press(page, 'Enter')
  await page.getByRole('combobox').waitFor()
})

test('a token is created, copied and looked at with keys alone', async (t) => {
  const { api, secret } = await service().account()
  await newDomain(api)
  const { page } = await openTab({ path: 'tokens', secret })
  await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor()
  await tabTo(page, 'Create a token')
  await press(page, 'Enter')
  const label = page.locator('label', { hasText: 'Certificates for one name' })
  await tabTo(page, (await label.textContent())!)
  // The arrows choose the next preset: the sixth is to read only.
  await press(page, ...Array.from({ length: 5 }, () => 'ArrowDown'))
  t.true(await page.getByRole('radio', { name: /^Read only / }).isChecked())
  await tabTo(page, 'Name of the token')
  await page.keyboard.type('by keys')
  await press(page, 'Enter')
  await page.getByRole('heading', { level: 1, name: 'by keys' }).waitFor()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await tabTo(page, 'Copy the secret')
  await press(page, 'Enter')
  await page.getByText('Copied').waitFor()
  t.is(await page.evaluate('navigator.clipboard.readText()'), await page.locator('.secret').innerText())
  await tabTo(page, 'Set when it expires, from where it may be used, and its permissions')
  await press(page, 'Enter')
  await page.getByText('May only read.').waitFor()
})

test('the table of records has a row for each record set, and the review an item for each change', async (t) => {
  const { api, secret } = await service().account()
  const name = await newDomain(api)
  await newRRset(api, name, { subname: 'www', type: 'A', ttl: 3600, records: ['192.0.2.1', '192.0.2.2'] })
  const { page } = await openRecords(name, secret)
  t.is(
    await heard(page.getByRole('table', { name: 'Records' })),
    `
- table "Records":
  - rowgroup:
    - row "Select all rows shown Name Type Records TTL Acts":
      - columnheader "Select all rows shown":
        - checkbox "Select all rows shown"
      - columnheader "Name"
      - columnheader "Type"
      - columnheader "Records"
      - columnheader "TTL"
      - columnheader "Acts"
  - rowgroup:
    - row "Select @ NS Edit @ NS NS ns1.zoneplane.test. ns2.zoneplane.test. 1 hour Delete @ NS":
      - cell "Select @ NS":
        - checkbox "Select @ NS"
      - rowheader "Edit @ NS":
        - button "Edit @ NS": @
      - cell "NS"
      - cell "ns1.zoneplane.test. ns2.zoneplane.test."
      - cell "1 hour"
      - cell "Delete @ NS":
        - button "Delete @ NS": Delete
    - row "Select www A Edit www A A 192.0.2.1 192.0.2.2 1 hour Delete www A":
      - cell "Select www A":
        - checkbox "Select www A"
      - rowheader "Edit www A":
        - button "Edit www A": www
      - cell "A"
      - cell "192.0.2.1 192.0.2.2"
      - cell "1 hour"
      - cell "Delete www A":
        - button "Delete www A": Delete
`,
  )
  await stageNew(page, 'www', 'AAAA', '2001:db8::1', '3600')
  await page.getByRole('button', { name: 'Edit www A', exact: true }).focus()
  await press(page, 'Delete')
  t.is(
    await heard(page.locator('[data-key="www A"]')),
    `
- row "Select www A Edit www A removed A 192.0.2.1 192.0.2.2 1 hour Discard the change of www A":
  - cell "Select www A":
    - checkbox "Select www A"
  - rowheader "Edit www A removed":
    - button "Edit www A": www
    - text: removed
  - cell "A"
  - cell "192.0.2.1 192.0.2.2"
  - cell "1 hour"
  - cell "Discard the change of www A":
    - button "Discard the change of www A": Discard
`,
  )
  await page.getByRole('button', { name: 'Review' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Creates 1 record set').waitFor()
  t.is(
    await heard(dialog),
    `
- dialog "Review 2 changes to ${name}":
  - heading "Review 2 changes to ${name}" [level=2]
  - status
  - paragraph: Creates 1 record set, removes 1. TTL of all: 1 hour.
  - table:
    - rowgroup:
      - row "Name Type Change":
        - columnheader "Name"
        - columnheader "Type"
        - columnheader "Change"
    - rowgroup:
      - 'row "www A removed: 192.0.2.1 removed: 192.0.2.2"':
        - rowheader "www"
        - cell "A"
        - 'cell "removed: 192.0.2.1 removed: 192.0.2.2"':
          - list:
            - listitem: removed: 192.0.2.1
            - listitem: removed: 192.0.2.2
      - 'row "www AAAA added: 2001:db8::1"':
        - rowheader "www"
        - cell "AAAA"
        - 'cell "added: 2001:db8::1"':
          - list:
            - listitem: added: 2001:db8::1
  - paragraph: Caches can keep the former records for up to 1 hour.
  - group: The same with curl
  - text: Why? For the history
  - textbox "Why? For the history"
  - paragraph:
    - button "Apply 2 changes"
    - button "Cancel"
    - button "Copy as curl"
`,
  )
})
