import { startStack } from '../../dev/stack.ts'
import { quietly } from './processes.ts'

// A program of its own that starts the servers below the folder of its argument, and then does nothing.
const powerDns = { dnsPort: 0 }
await startStack(process.argv[2]!, { postgres: true, powerDns, durable: false, progress: quietly })
console.log('started')
setInterval(quietly, 1000)
