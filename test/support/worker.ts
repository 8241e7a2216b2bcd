// In every process of AVA's: when AVA is gone, so are we, and with us the servers that we started.
process.on('disconnect', () => {
  process.exit(1)
})
