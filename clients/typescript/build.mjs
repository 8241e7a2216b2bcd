// Generates the types from the document of the API as it is built in the folder above clients/, and builds the client.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import generate, { astToString } from 'openapi-typescript'
import { readConfig } from '../../build/src/settings/config.js'
import { createRouter } from '../../build/src/http/router.js'

const folder = fileURLToPath(new URL('.', import.meta.url))
const { document } = createRouter(readConfig({}))
writeFileSync(join(folder, 'schema.mts'), astToString(await generate(document)))
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
execFileSync(process.execPath, [compiler, '--project', folder], { stdio: 'inherit' })
