import type { ExecutionContext } from 'ava'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../../src/installation/project.ts'
import { needs } from '../../support/needs.ts'
import { test } from '../../support/serial.ts'
import { newFolder } from '../../support/servers/folders.ts'
import { usePlace } from '../support/clients.ts'
import { build, copyFiles, lackOfGo, newModule } from '../support/go.ts'
import { getsCertificate } from '../support/lego.ts'

const place = usePlace()

const LEGO_5 = 'github.com/go-acme/lego/v5'
const VERSION = 'v5.6.0'

/** Tags for lego with one provider: the module proxy does not have all modules of the others, nor the one for its log. */
const TAGS = ['-tags', 'lego_dnslight,lego_dns_pdns']
const LOG = 'gitlab.com/greyxor/slogor'

needs(lackOfGo(), test)("lego 5 gets a certificate by PowerDNS' API", async (t) => {
  await getsCertificate(t, place(), 'lego5.test', "lego with PowerDNS' API", 0, await buildLego(t))
})

/** Builds lego 5 with its provider for PowerDNS, and a plain log. */
async function buildLego(t: ExecutionContext): Promise<string> {
  const made = await newModule(t)
  const log = newFolder()
  writeFileSync(join(log, 'go.mod'), `module ${LOG}\n`)
  copyFiles(join(projectFolder(), 'test', 'clients', 'lego', 'slogor'), log)
  await made.go('mod', 'edit', '-replace', `${LOG}=${log}`)
  await made.go('get', ...TAGS, `${LEGO_5}@${VERSION}`)
  return build(made, TAGS, LEGO_5)
}
