import { monitorEventLoopDelay } from 'node:perf_hooks'

// Runs in the service's process, and tells whoever asks for how long its event loop was blocked at most since then.

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
process.on('message', () => {
  process.send!(delay.max / 1e6)
  delay.reset()
})
// Being asked is no reason to go on.
process.channel!.unref()
