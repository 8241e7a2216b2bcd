import fc from 'fast-check'
import { SEED } from './random.ts'

// Runs first in every process of AVA.

// fast-check uses the seed of the run, too, and prints it if a property fails.
fc.configureGlobal({ seed: SEED })

// When AVA ends, this process ends, and with it the servers that it started.
process.on('disconnect', () => {
  process.exit(1)
})
