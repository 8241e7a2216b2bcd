import { createSocket } from 'node:dgram'
import { connect } from 'node:net'

// A program that runs in a network of its own: takes DNS messages by UDP at 127.0.0.1 port 53, and passes them on, as by TCP,
// to the Unix socket that its argument names.

const [path = ''] = process.argv.slice(2)
const datagrams = createSocket('udp4')
datagrams.on('message', (message, { address, port }) => {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(message.length)
  const chunks: Buffer[] = []
  const onward = connect(path, () => onward.write(Buffer.concat([length, message])))
  onward.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    const answer = Buffer.concat(chunks)
    if (answer.length < 2 || answer.length < 2 + answer.readUInt16BE(0)) return
    datagrams.send(answer.subarray(2), port, address)
    onward.end()
  })
  onward.on('error', () => onward.destroy())
})
datagrams.bind(53, '127.0.0.1', () => {
  console.log('ready')
})
