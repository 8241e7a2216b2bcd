import fc from 'fast-check'
import { SEED } from './random.ts'

// Runs first in every process of AVA's.

// fast-check draws from the seed of the run, too, and prints it for a property that fails.
fc.configureGlobal({ seed: SEED })

// When AVA is gone, this process ends, and with it the servers that it started.
process.on('disconnect', () => {
  process.exit(1)
})
