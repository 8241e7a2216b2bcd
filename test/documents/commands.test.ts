import test from 'ava'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../src/installation/project.ts'
import { eventually } from '../support/eventually.ts'
import { newFolder } from '../support/servers/folders.ts'
import { runOurs, startOurs } from '../support/servers/programs.ts'
import { apiUrl } from '../support/servers/service.ts'
import { blocksOf, readDocument } from './blocks.ts'
import { runDocument } from './run-document.ts'

// Readers run the commands of the documents for users in order. A service that the same code has started stands in for
// `npm start` and `zoneplane --ci`, on free ports.

/** Texts of documents, and their replacements in a test. */
type Changes = Record<string, string>

async function withStarted(args: string[], env: Record<string, string>, work: (changes: Changes) => Promise<void>) {
  const common = { PATH: process.env['PATH'], TMPDIR: newFolder(), PORT: '0', DNS_PORT: '0', DURABLE: 'off' }
  const { child, ended, output } = startOurs(args, { ...common, ...env })
  try {
    const url = await eventually(() => apiUrl(output()))
    const [, host, port] = /^ {2}DNS {4}(\S+) port (\d+)$/m.exec(output())!
    await work({ 'http://127.0.0.1:8080': url!, '@127.0.0.1 -p 5300': `@${host!} -p ${port!}` })
  } finally {
    child.kill('SIGTERM')
    await ended
  }
}

/** The account of the login in docs/api.md. */
const ACCOUNT = { email: 'you@example.org', password: 'a long sentence' }

test('the commands of README.md, then those of docs/api.md, do what these show', async (t) => {
  const data = newFolder()
  // No message leaves this machine.
  const settings = { ZONEPLANE_DATA: data, REGISTRATION: 'open', EMAIL_CONFIRMATION: 'off', PRIVATE_TRANSFERS: 'on' }
  await withStarted(['start'], settings, async (ports) => {
    const changes = { ...ports, '192.0.2.7': '127.0.0.7' }
    const body = JSON.stringify(ACCOUNT)
    const headers = { 'Content-Type': 'application/json' }
    t.is(
      (await fetch(`${ports['http://127.0.0.1:8080']!}/api/v1/auth/`, { method: 'POST', headers, body })).status,
      202,
    )
    const values = { TOKEN: readFileSync(join(data, 'token'), 'utf8').trim() }
    for (const name of ['README.md', 'docs/api.md']) {
      t.deepEqual(await runDocument(readDocument(name), { name, values, changes }), [])
    }
    // The policies of the examples are those of a token of the examples, not of the reader's own.
    const own = await fetch(`${ports['http://127.0.0.1:8080']!}/api/v1/auth/token/`, {
      headers: { Authorization: `Token ${values.TOKEN}` },
    })
    t.deepEqual(((await own.json()) as { policies: unknown }).policies, [])
  })
})

test('with the seed of docs/ci.md, the commands there do what it shows', async (t) => {
  const name = 'docs/ci.md'
  const text = readDocument(name)
  const seed = blocksOf(text).find((block) => block.kind === 'yaml' && block.text.startsWith('accounts:'))!
  const file = join(newFolder(), 'seed.yaml')
  writeFileSync(file, seed.text)
  await withStarted(['--ci'], { ZONEPLANE_SEED: file }, async (changes) => {
    t.deepEqual(await runDocument(text, { name, values: {}, changes }), [])
  })
})

test('the commands of docs/operators/abuse.md lead from a report to the end', async (t) => {
  const name = 'docs/operators/abuse.md'
  const folder = newFolder()
  const [data, seed] = [join(folder, 'data'), join(folder, 'seed.yaml')]
  writeFileSync(
    seed,
    `accounts:
  - { email: owner@example.net, domains: [{ name: shop.example, zonefile: www 300 A 192.0.2.1 }] }
  - { email: new@example.net }
`,
  )
  const program = `ZONEPLANE_DATA=${data} ${process.execPath} ${join(projectFolder(), 'build', 'src', 'cli.js')}`
  await withStarted(['--ci'], { ZONEPLANE_SEED: seed, ZONEPLANE_DATA: data }, async () => {
    const changes = { '    zoneplane ': `    ${program} ` }
    t.deepEqual(await runDocument(readDocument(name), { name, values: {}, changes }), [])
    t.is(
      await runOurs(['domain', 'list'], { ZONEPLANE_DATA: data }).then(([, output]) => output.includes('shop')),
      false,
    )
  })
})

const EXAMPLE = `# A document

    NAME=…
    echo "{\\"name\\":\\"$NAME\\",\\"created\\":\\"$(date -u +%FT%T.%6NZ)\\"}"

\`\`\`
{"name":"…",
 "created":"2026-01-31T12:00:00.123456Z"}
\`\`\`

    docker run it

\`\`\`
It runs.
\`\`\`

    false
    echo a?b \\
      | cat

\`\`\`
a?c
\`\`\`

\`\`\`json
other
\`\`\`
`

test('a failure names the document and the line', async (t) => {
  t.deepEqual(await runDocument(EXAMPLE, { name: 'x.md', values: { NAME: 'a' }, changes: {} }), [
    'x.md:17: exit code 1: false\n',
    'x.md:18: zsh expands ?, * and [: echo a?b \\\n  | cat',
    'x.md:22: not in the output: a?c\na?b',
  ])
})
