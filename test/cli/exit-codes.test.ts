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

const CASES: [code: number, problem: string, ...args: string[]][] = [
  [0, '', 'account', 'list'],
  [0, '', 'domain', '--help'],
  [2, "unknown command 'made'\n", 'account', 'made'],
  [2, "unknown command 'constructor'\n", 'constructor'],
  [2, "unknown command 'constructor'\n", 'account', 'constructor'],
  [2, "missing required argument 'id'\n", 'token', 'revoke'],
  [2, "missing required argument 'email'\n", 'token', 'bind', 'x'],
  [2, "too many arguments for 'revoke'. Expected 1 argument but got 2.\n", 'token', 'revoke', 'x', 'y'],
  [2, "unknown option '--all'\n", 'domain', 'list', '--all'],
  [
    2,
    "option '--domains <number>' argument '-1' is invalid. It must be a whole number from 0 to 2147483647, or none.\n",
    ...['account', 'create', 'x@example.net', '--domains', '-1'],
  ],
  [
    2,
    "option '--daily-rate <number>' argument '1.5' is invalid. It must be a whole number from 0 to 2147483647, or default.\n",
    ...['account', 'create', 'x@example.net', '--daily-rate', '1.5'],
  ],
  [
    2,
    "command-argument value '0' is invalid for argument 'seconds'. It must be a whole number from 1 to 86400.\n",
    ...['domain', 'set-minimum-ttl', 'x.example', '0'],
  ],
  [
    2,
    "command-argument value 'nsec5' is invalid for argument 'denial'. Allowed choices are nsec, nsec3.\n",
    ...['domain', 'set-denial', 'x.example', 'nsec5'],
  ],
  [3, 'There is no domain nowhere.example.\n', 'domain', 'show', 'nowhere.example'],
  [3, 'Account nobody@example.net does not exist.\n', 'account', 'show', 'nobody@example.net'],
  [4, '"nobody" is not an e-mail address.\n', 'account', 'create', 'nobody'],
  // The state forbids it.
  [4, '', 'domain', 'delete', 'a.example', '--confirm', 'b.example'],
]

for (const [code, problem, ...args] of CASES) {
  test(`the exit code is ${code}: ${args.join(' ')}`, async (t) => {
    const plain = await ended(...args)
    t.is(plain.code, code, plain.err)
    const { code: jsonCode, out, err } = await ended(...args, '--json')
    t.is(jsonCode, code)
    if (code === 0) return
    t.is(out, '')
    const { error, ...others } = JSON.parse(err) as { error: string }
    t.deepEqual(others, {})
    t.true(plain.err.startsWith(`zoneplane: ${error}\n`), plain.err)
    t.true(plain.err.startsWith(`zoneplane: ${problem}`), plain.err)
  })
}

test('without a command, the exit code is 2, and the usage is shown', async (t) => {
  for (const args of [[], ['account']]) {
    const usage = ['Usage: zoneplane', ...args, '[options] [command]'].join(' ')
    const { code, err } = await ended(...args)
    t.is(code, 2)
    t.true(err.startsWith(`zoneplane: no command given\n${usage}\n`), err)
  }
})

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
