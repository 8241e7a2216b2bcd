import { startStack } from '../../src/private-servers/stack.ts'
import { quietly } from './processes.ts'

// A separate program that starts the servers in the folder given as its argument, and then does nothing.
const powerDns = { dnsPort: 0 }
await startStack(process.argv[2]!, { postgres: true, powerDns, durable: false, progress: quietly })
console.log('started')
setInterval(quietly, 1000)
