import test from 'ava'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { projectFolder } from '../../src/installation/project.ts'
import { useService } from '../support/harness.ts'
import { newFolder } from '../support/servers/folders.ts'

// The client in TypeScript is generated from the document and built. The program in docs/api.md uses it, and a receiver of
// webhooks its types.

const service = useService()
const project = projectFolder()
const run = promisify(execFile)

/** The program in docs/api.md. */
const program = /```ts\n(import \{ zoneplane \}.*?)```/s.exec(readFileSync(join(project, 'docs/api.md'), 'utf8'))![1]!

/** A receiver of webhooks, with the types of what it gets. */
const RECEIVER = `import type { components, webhooks } from '@zoneplane/client'
type Message = webhooks['activity']['post']['requestBody']['content']['application/json']
export function read(message: Message): string {
  const { type, timestamp, data } = message satisfies components['schemas']['WebhookMessage']
  if (type === 'test' || data === null) return timestamp
  return [data.domain, data.message, ...(data.changes ?? []).map(({ subname }) => subname)].join(' ')
}
`

const WRONG = [
  ["'/api/v1/domains/'", "'/api/v1/domain/'"],
  ["records: ['2001:db8::1']", 'records: 1'],
  ['domain.keys', 'domain.kies'],
  ["'test'", "'tests'"],
  ['data === null', 'data === 1'],
] as const

/** A folder with the program and wrong variants of it, where the client is installed. */
const folder = newFolder()

/** What the compiler says of all of them. */
let messages: string[]

test.serial.before('the client is built, and the programs are compiled', async () => {
  await run(process.execPath, [join(project, 'clients/typescript/build.mjs')])
  mkdirSync(join(folder, 'node_modules/@zoneplane'), { recursive: true })
  symlinkSync(join(project, 'clients/typescript'), join(folder, 'node_modules/@zoneplane/client'))
  symlinkSync(join(project, 'node_modules/@types'), join(folder, 'node_modules/@types'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const here = program.replace('http://127.0.0.1:8080', service().url)
  writeFileSync(join(folder, 'program.ts'), here)
  writeFileSync(join(folder, 'receiver.ts'), RECEIVER)
  const variants = WRONG.map(([right, wrong]) => (here.includes(right) ? here : RECEIVER).replace(right, wrong))
  for (const [i, variant] of variants.entries()) writeFileSync(join(folder, `wrong${i}.ts`), variant)
  const compiler = join(project, 'node_modules/typescript/bin/tsc')
  const options = ['--strict', '--skipLibCheck', '--target', 'es2023', '--module', 'nodenext', '--types', 'node']
  const files = ['program.ts', 'receiver.ts', ...variants.map((_, i) => `wrong${i}.ts`)]
  const { stdout } = await run(process.execPath, [compiler, ...options, ...files], { cwd: folder }).catch(
    (error: unknown) => error as { stdout: string },
  )
  messages = stdout.split('\n').filter((line) => /^\S/.test(line))
})

test.serial('the program in docs/api.md creates a domain with an RRset', async (t) => {
  const unexpected = messages.filter((line) => !line.startsWith('wrong'))
  t.deepEqual(unexpected, [])
  const { secret, api } = await service().account()
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder, env: { TOKEN: secret } })
  t.regex(stdout, / 13 2 [0-9a-f]{64}/)
  const { json } = await api.get('/domains/shop.test/rrsets/www/AAAA/')
  t.like(json, { ttl: 3600, records: ['2001:db8::1'] })
})

test.serial('the types of what webhooks get compile', (t) => {
  t.deepEqual(
    messages.filter((line) => line.startsWith('receiver')),
    [],
  )
})

for (const [i, [right, wrong]] of WRONG.entries()) {
  test.serial(`the compiler refuses ${wrong}`, (t) => {
    t.true([program, RECEIVER].some((text) => text.includes(right)))
    const isError = new RegExp(`^wrong${i}\\.ts\\(\\d+,\\d+\\): error TS`)
    t.true(
      messages.some((line) => isError.test(line)),
      messages.join('\n'),
    )
  })
}
