import type { ExecutionContext } from 'ava'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../../src/installation/project.ts'
import { newFolder } from '../../support/servers/folders.ts'
import { build, copyFiles, newModule } from './go.ts'

// Programs in Go that several tests build.

const LEGO_5 = 'github.com/go-acme/lego/v5'
const VERSION = 'v5.6.0'

/** The module for lego's log, which the module proxy does not have. */
const LOG = 'gitlab.com/greyxor/slogor'

/** Builds lego 5 with one provider, because the proxy does not have all modules of the others, and with a plain log. */
export async function buildLego(t: ExecutionContext, provider: string): Promise<string> {
  const tags = ['-tags', `lego_dnslight,lego_dns_${provider}`]
  const made = await newModule(t)
  const log = newFolder()
  writeFileSync(join(log, 'go.mod'), `module ${LOG}\n`)
  copyFiles(join(projectFolder(), 'test', 'clients', 'lego', 'slogor'), log)
  await made.go('mod', 'edit', '-replace', `${LOG}=${log}`)
  await made.go('get', ...tags, `${LEGO_5}@${VERSION}`)
  return build(made, tags, LEGO_5)
}

/** Builds our program with external-dns' packages. */
export async function buildExternalDns(t: ExecutionContext): Promise<string> {
  const sources = join(projectFolder(), 'test', 'clients', 'external-dns')
  return build(await newModule(t, sources, ['sigs.k8s.io/external-dns@v0.22.0']))
}
