import test from 'ava'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { outcome } from '../../src/private-servers/daemon.ts'
import { isAllowed } from '../../src/private-servers/packages.ts'

const refused = /Zoneplane does not find:\s+- a program\s+On Debian or Ubuntu: sudo apt-get install zoneplane-has-no-su/
const question = 'Install with apt-get, without starting services: zoneplane-has-no-such-package? [Y/n] '
const installing = 'installing with apt'

/** What a program prints that needs a package, at a terminal where `typed` answers its question. */
async function atTerminal(install: string, typed: string): Promise<string> {
  const command = `${process.execPath} ${join(import.meta.dirname, 'installer.js')} ${install}`
  const child = spawn('script', ['--quiet', '--command', command, '/dev/null'])
  let shown = ''
  child.stdout.on('data', (chunk: Buffer) => {
    const wasAsked = shown.includes(question)
    shown += chunk.toString()
    if (!wasAsked && shown.includes(question)) child.stdin.write(typed)
  })
  return (await outcome(child)).output
}

// Others than root on Debian are told what to install, and not asked.
const asRoot = process.getuid?.() === 0 ? test : test.skip

for (const [typed, key] of [
  ['n\r', 'n'],
  ['no\r', 'no'],
  ['\x03', 'Ctrl-C'],
  ['\x04', 'Ctrl-D'],
] as const) {
  asRoot(`at a terminal, nothing is installed if the answer is ${key}`, async (t) => {
    const output = await atTerminal('ask', typed)
    t.true(output.includes(question), output)
    t.regex(output, refused)
    t.false(output.includes(installing))
  })
}

test('if packages may not be installed, nobody is asked', async (t) => {
  const output = await atTerminal('no', '')
  t.regex(output, refused)
  t.false(output.includes(question) || output.includes(installing))
})

test('without a terminal nobody is asked, and packages may be installed unless the setting says no', async (t) => {
  t.falsy(process.stdin.isTTY)
  t.true(await isAllowed('ask', ['a-package']))
  t.true(await isAllowed('yes', ['a-package']))
  t.false(await isAllowed('no', ['a-package']))
})
