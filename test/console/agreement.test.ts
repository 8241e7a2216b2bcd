import { buildSync } from 'esbuild'
import { join } from 'node:path'
import { projectFolder } from '../../src/installation/project.ts'
import { EXAMPLES } from '../dns/examples/index.ts'
import { useBrowser } from '../support/browser.ts'

// The console checks records with the service's own code, so a browser has to read every example as the service does.

const { test, browser } = useBrowser()

/** The script of a page that has src/dns as `dns`. */
function bundle(): string {
  const { outputFiles } = buildSync({
    entryPoints: [join(projectFolder(), 'src', 'dns', 'rdata.ts')],
    bundle: true,
    format: 'iife',
    globalName: 'dns',
    platform: 'browser',
    write: false,
  })
  return outputFiles[0]!.text
}

/** Runs in the page: what each content is read as, and whether its canonical text and its wire form are read as the same. */
const READ = `(contents) => contents.map(([type, input]) => {
  try {
    const rdata = dns.parseRdata(type, input)
    const again = [dns.parseRdata(type, rdata.text), dns.decodeRdata(type, rdata.wire)]
    const isSame = again.every(({ text, wire }) => text === rdata.text && wire === rdata.wire)
    return isSame ? rdata.text : 'not the same when read again'
  } catch (error) {
    return error instanceof dns.Malformed ? error.message : 'thrown: ' + error
  }
})`

test('a browser accepts and rejects every example as the service does, in the same words', async (t) => {
  const page = await browser().newPage()
  await page.addScriptTag({ content: bundle() })
  for (const [type, { accepted, rejected }] of EXAMPLES) {
    const examples = [...accepted.map((each) => (typeof each === 'string' ? [each, each] : each)), ...rejected]
    const inputs = JSON.stringify(examples.map(([input]) => [type, input]))
    const expected = examples.map(([, text]) => text)
    t.deepEqual(await page.evaluate(`(${READ})(${inputs})`), expected, type)
  }
  await page.close()
})
