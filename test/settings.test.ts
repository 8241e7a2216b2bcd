import test from 'ava'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { run } from '../src/cli/run.ts'
import { projectFolder } from '../src/installation/project.ts'
import { misspelt } from '../src/settings/config.ts'
import { SETTINGS } from '../src/settings/settings.ts'

// The rows of the settings, and all that is made of them.

const settings = Object.values(SETTINGS)

test('documents, compose file and Debian settings have what `npm run settings` makes of rows', async (t) => {
  const path = join(projectFolder(), 'deb', 'settings.mjs')
  const { lists } = (await import(path)) as { lists: () => Promise<Record<string, string>> }
  for (const [file, text] of Object.entries(await lists())) {
    t.is(readFileSync(join(projectFolder(), file), 'utf8'), text, `${file}: run \`npm run settings\``)
  }
})

test('each requirement of ASVS has one row, of 40 words at most, which says why unless the answer is yes', (t) => {
  type Row = { items: string; verdict: string; why?: string; tests?: string[] }
  const text = readFileSync(join(projectFolder(), 'docs', 'design', 'asvs.yml'), 'utf8')
  const rows = (parse(text) as { rows: Row[] }[]).flatMap((chapter) => chapter.rows)
  t.true(rows.length > 100)
  const items = rows.flatMap((row) => row.items.split(', '))
  t.is(new Set(items).size, items.length)
  for (const { items, verdict, why = '' } of rows) {
    t.true(['met', 'partly', 'not met', 'does not apply'].includes(verdict), items)
    t.true(why.split(' ').length <= 40, `${items}: ${why}`)
    if (verdict === 'partly' || verdict === 'not met') t.regex(why, /\S/, items)
  }
})

test('each setting has a name of its own, a default and a meaning', (t) => {
  t.is(new Set(settings.map(({ name }) => name)).size, settings.length)
  for (const { name, usual, meaning } of settings) {
    t.regex(name, /^[A-Z]+(_[A-Z]+)*$/)
    t.regex(usual, /\S/, name)
    t.regex(meaning, /^\S.{10,}[^.]$/, name)
  }
})

test('`zoneplane help settings` prints each setting once, and no meaning in lines above 76 characters', async (t) => {
  let text = ''
  const parts = { version: '', start: () => t.fail(), withSystem: () => t.fail() } as never
  t.is(await run(['help', 'settings'], parts, { writeOut: (part) => (text += part) }), 0)
  const lines = text.split('\n')
  t.deepEqual(
    lines.flatMap((line) => /^ {2}([A-Z_]+) \(default: /.exec(line)?.[1] ?? []),
    settings.map(({ name }) => name),
  )
  t.deepEqual(
    lines.filter((line) => /^ {6}/.test(line) && line.length > 76),
    [],
  )
})

for (const [variable, expected] of [
  ['PDNS_API_ULR', 'PDNS_API_URL'],
  ['NAME_SERVERS', 'NAMESERVERS'],
  ['CHECKIP_HOSTS', 'CHECK_IP_HOSTS'],
  ['THROTTLE_RATE', 'THROTTLE_RATES'],
  ['PDNS_API_URL', undefined],
  ['POSTGRES_PASSWORD', undefined],
  ['SORT', undefined],
] as const) {
  test(`${variable} ${expected === undefined ? 'resembles no other setting' : `is taken for a misspelt ${expected}`}`, (t) => {
    t.deepEqual(misspelt({ [variable]: 'x' }), expected === undefined ? [] : [[variable, expected]])
  })
}
