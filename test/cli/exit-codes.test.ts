import test from 'ava'
import { run } from '../../src/cli/run.ts'
import { useService } from '../support/harness.ts'
import { runOurs } from '../support/servers/programs.ts'
import { environmentFor } from '../support/servers/service.ts'

// docs/operators/commands.md: how commands end, and what programs read of it.

const service = useService()

/** Runs a command line in this process; resolves to its exit code, and all that it has written to each stream. */
async function ended(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const written = { out: '', err: '' }
  const parts = {
    version: '1.2.3',
    start: () => Promise.reject(new Error('no service is started in this process')),
    withSystem: async (_: unknown, work: (system: ReturnType<typeof service>['system']) => Promise<void>) =>
      work(service().system),
  }
  const code = await run(args, parts, {
    writeOut: (text) => (written.out += text),
    writeErr: (text) => (written.err += text),
  })
  return { code, ...written }
}

const CASES: [what: string, code: number, ...args: string[]][] = [
  ['it succeeds', 0, 'account', 'list'],
  ['its help is asked for', 0, 'domain', '--help'],
  ['an option is unknown', 2, 'account', 'list', '--nothing'],
  ['a command is unknown', 2, 'nothing'],
  ['an argument is missing', 2, 'domain', 'show'],
  ['an argument is not of its kind', 2, 'domain', 'set-minimum-ttl', 'x.example', 'soon'],
  ['a domain is not found', 3, 'domain', 'show', 'nowhere.example'],
  ['an account is not found', 3, 'account', 'show', 'nobody@example.net'],
  ['input is refused', 4, 'account', 'create', 'nobody'],
  ['the state forbids it', 4, 'domain', 'delete', 'a.example', '--confirm', 'b.example'],
]

for (const [what, code, ...args] of CASES) {
  test(`if ${what}, the exit code is ${code}`, async (t) => {
    const plain = await ended(...args)
    t.is(plain.code, code, plain.err)
    const { code: jsonCode, out, err } = await ended(...args, '--json')
    t.is(jsonCode, code)
    if (code === 0) return
    t.is(out, '')
    const { error, ...others } = JSON.parse(err) as { error: string }
    t.deepEqual(others, {})
    t.true(plain.err.startsWith(`zoneplane: ${error}\n`), plain.err)
  })
}

test('if a server does not answer, the exit code is 75', async (t) => {
  const closed = { ...service().backends, databaseUrl: 'postgres://a:s3cret@127.0.0.1:9/a' }
  const [code, written] = await runOurs(['account', 'list', '--json'], environmentFor(closed))
  t.is(code, 75)
  t.regex((JSON.parse(written) as { error: string }).error, /^Postgres at 127\.0\.0\.1:9\/a cannot be used: /)
})

test('a command that does without PowerDNS loads nothing that speaks to it, nor other large packages', async (t) => {
  const environment = { ...environmentFor(service().backends), NODE_DEBUG: 'module' }
  const [code, written] = await runOurs(['account', 'list'], environment)
  t.is(code, 0)
  t.true(written.includes('/node_modules/pg/'))
  for (const name of ['undici', 'tldts']) t.false(written.includes(`/node_modules/${name}/`), name)
})
