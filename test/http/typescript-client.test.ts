import test from 'ava'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { projectFolder } from '../../dev/project.ts'
import { useService } from '../support/harness.ts'
import { newFolder } from '../support/servers/folders.ts'

// The client in TypeScript is generated from the document and built, and the program in docs/api.md uses it.

const service = useService()
const project = projectFolder()
const run = promisify(execFile)

/** The program in docs/api.md. */
const program = /```ts\n(import \{ zoneplane \}.*?)```/s.exec(readFileSync(join(project, 'docs/api.md'), 'utf8'))![1]!

/** A folder with the program, where the client is installed. */
async function install(program: string): Promise<string> {
  const folder = newFolder()
  mkdirSync(join(folder, 'node_modules/@zoneplane'), { recursive: true })
  symlinkSync(join(project, 'clients/typescript'), join(folder, 'node_modules/@zoneplane/client'))
  symlinkSync(join(project, 'node_modules/@types'), join(folder, 'node_modules/@types'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'program.ts'), program)
  return folder
}

/** Compiles the program; returns what the compiler says of it. */
async function compile(folder: string): Promise<string> {
  const compiler = join(project, 'node_modules/typescript/bin/tsc')
  const options = ['--strict', '--skipLibCheck', '--target', 'es2023', '--module', 'nodenext', '--types', 'node']
  const { stdout } = await run(process.execPath, [compiler, ...options, 'program.ts'], { cwd: folder }).catch(
    (error: unknown) => error as { stdout: string },
  )
  return stdout
}

test.serial.before('the client is built', async () => {
  await run(process.execPath, [join(project, 'clients/typescript/build.mjs')])
})

test.serial('the program in docs/api.md creates a domain with an RRset', async (t) => {
  const folder = await install(program.replace('http://127.0.0.1:8080', service().url))
  t.is(await compile(folder), '')
  const { secret, api } = await service().account()
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder, env: { TOKEN: secret } })
  t.regex(stdout, / 13 2 [0-9a-f]{64}/)
  const { json } = await api.get('/domains/shop.test/rrsets/www/AAAA/')
  t.like(json, { ttl: 3600, records: ['2001:db8::1'] })
})

for (const [right, wrong] of [
  ["'/api/v1/domains/'", "'/api/v1/domain/'"],
  ["records: ['2001:db8::1']", 'records: 1'],
  ['domain.keys', 'domain.kies'],
] as const) {
  test.serial(`the compiler refuses ${wrong}`, async (t) => {
    t.true(program.includes(right))
    t.regex(await compile(await install(program.replace(right, wrong))), /^program\.ts\(\d+,\d+\): error TS/)
  })
}
