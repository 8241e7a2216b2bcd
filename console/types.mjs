// Generates the types of the API for the console, build/api-types.d.ts, from the document of the service that was just built.
import { writeFileSync } from 'node:fs'
import generate, { astToString } from 'openapi-typescript'
import { createRouter } from '../build/src/http/router.js'
import { readConfig } from '../build/src/settings/config.js'

// The document describes captchas only where strangers have to solve them, and single sign-on where there is an issuer.
const issuer = { OIDC_ISSUER: 'https://login.example.net', OIDC_CLIENT_ID: 'zoneplane', OIDC_CLIENT_SECRET: 'secret' }
const config = readConfig({ CAPTCHA: 'on', ...issuer, PUBLIC_URL: 'https://dns.example.net' })
const { document } = createRouter(config)
writeFileSync('build/api-types.d.ts', astToString(await generate(document)))
