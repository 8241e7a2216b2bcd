// Generates the types of the API for the console, build/api-types.d.ts, from the document of the service that was just built.
import { writeFileSync } from 'node:fs'
import generate, { astToString } from 'openapi-typescript'
import { readConfig } from '../build/src/config.js'
import { createRouter } from '../build/src/http/router.js'

const { document } = createRouter(readConfig({}))
writeFileSync('build/api-types.d.ts', astToString(await generate(document)))
