import { ensureInstalled, type Install } from '../../src/private-servers/packages.ts'

// A separate program that needs a package which does not exist; its argument says whether it may be installed.
const needed = [{ what: 'a program', isThere: () => false, packages: ['zoneplane-has-no-such-package'] }]
try {
  await ensureInstalled(needed, { install: process.argv[2] as Install, progress: console.log })
} catch (error) {
  console.log((error as Error).message)
}
