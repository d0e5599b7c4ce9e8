// One end of a TCP connection that never pauses. `receive ADDRESS PORT` counts what arrives and how long nothing did;
// `send ADDRESS PORT` sends numbered words every 5 ms until its standard input ends. Each prints one line of JSON at its end.
import { connect, createServer } from 'node:net'

const WORDS = 64
const [mode, address, port] = process.argv.slice(2)

function receive() {
  let lastAt
  let bytes = 0
  let longestStallMs = 0
  let isInOrder = true
  let rest = Buffer.alloc(0)
  const server = createServer((socket) => {
    process.stdout.write('connected\n')
    socket.on('data', (chunk) => {
      const now = performance.now()
      longestStallMs = Math.max(longestStallMs, now - (lastAt ?? now))
      lastAt = now
      const words = Buffer.concat([rest, chunk])
      const whole = words.length - (words.length % 4)
      for (let at = 0; at < whole; at += 4) isInOrder &&= words.readUInt32BE(at) === (bytes - rest.length + at) / 4
      bytes += chunk.length
      rest = words.subarray(whole)
    })
    socket.on('error', (error) => process.stdout.write(`${JSON.stringify({ error: error.message })}\n`))
    socket.on('end', () => {
      socket.end()
      server.close()
      process.stdout.write(`${JSON.stringify({ bytes, isInOrder, longestStallMs: Math.round(longestStallMs) })}\n`)
    })
  })
  server.listen(Number(port), address, () => process.stdout.write('listening\n'))
}

function send() {
  let word = 0
  const socket = connect(Number(port), address)
  const timer = setInterval(() => {
    const chunk = Buffer.alloc(WORDS * 4)
    for (let at = 0; at < chunk.length; at += 4) chunk.writeUInt32BE(word++, at)
    socket.write(chunk)
  }, 5)
  process.stdin.on('end', () => {
    clearInterval(timer)
    socket.end(() => process.stdout.write(`${JSON.stringify({ bytes: word * 4 })}\n`))
  })
  process.stdin.resume()
  socket.on('error', (error) => process.stdout.write(`${JSON.stringify({ error: error.message })}\n`))
}

if (mode === 'receive') receive()
else send()
