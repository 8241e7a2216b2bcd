// Generates the types of the API for the console, build/api-types.d.ts, from the document of the service that was just built.
import { writeFileSync } from 'node:fs'
import generate, { astToString } from 'openapi-typescript'
import { createRouter } from '../build/src/http/router.js'
import { readConfig } from '../build/src/settings/config.js'

// The document describes captchas only where strangers have to solve them.
const { document } = createRouter(readConfig({ CAPTCHA: 'on' }))
writeFileSync('build/api-types.d.ts', astToString(await generate(document)))
