// One end of connections that go through a mediated session. `echo PORT` returns what it is sent; `exchange PORT BYTES` sends random
// bytes, ends its direction, and compares what comes back; `hold PORT` sends until it is cut, and prints when; `show ADDRESS TOKEN`
// prints the answer of an agent to a token.
import { createHash, randomBytes } from 'node:crypto'
import { connect, createServer } from 'node:net'

const [mode, ...args] = process.argv.slice(2)
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`)
const hashOf = () => createHash('sha256')

const MODES = {
  echo(port) {
    const server = createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => undefined).pipe(socket))
    server.listen(Number(port), '127.0.0.1', () => print('listening'))
  },
  exchange(port, bytes) {
    const [sent, received] = [hashOf(), hashOf()]
    const data = randomBytes(Number(bytes))
    sent.update(data)
    let count = 0
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
    socket.on('data', (chunk) => {
      received.update(chunk)
      count += chunk.length
    })
    socket.on('error', (error) => print({ error: error.code }))
    socket.on('end', () => print({ count, isEqual: sent.digest('hex') === received.digest('hex') }))
    socket.end(data)
  },
  hold(port) {
    const socket = connect({ port: Number(port), host: '127.0.0.1' })
    const timer = setInterval(() => socket.write(randomBytes(16_384)), 5)
    socket.once('data', () => print('flowing'))
    socket.resume()
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearInterval(timer)
      print({ closedAtMs: Date.now() })
    })
  },
  show(address, token) {
    const socket = connect({ port: 7444, host: address })
    let answer = ''
    socket.on('data', (chunk) => (answer += chunk))
    socket.on('error', (error) => print({ error: error.code }))
    socket.on('end', () => print({ answer }))
    socket.write(`${token}\n`)
  },
}

MODES[mode](...args)
