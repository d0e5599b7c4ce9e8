// Sends requests from a process of its own, so that its work does not delay the server under test. Reads one JSON document from
// stdin: `port`, and for each connection the requests to send, 10 in one piece. `isEndless` repeats them until it is killed.
// Prints how many answers of each status came.
import { connect } from 'node:net'
import { json } from 'node:stream/consumers'

const CONNECTING_MAX = 50
const STATUS = /HTTP\/1\.1 (\d{3}) /g

const { port, connections, isEndless } = await json(process.stdin)
const statuses = {}

/** Resolves once all are answered. A connection that is lost is made again, as agents do. */
function send(requests) {
  return new Promise((resolve) => {
    let left = requests.length
    let seen = ''
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('connect', () => socket.write(requests.join('')))
    socket.on('data', (bytes) => {
      // A status line that a read cuts in two is seen with the next.
      seen += bytes.toString('latin1')
      for (const [, status] of seen.matchAll(STATUS)) {
        statuses[status] = (statuses[status] ?? 0) + 1
        left -= 1
      }
      seen = seen.slice(seen.lastIndexOf('HTTP/1.1') + 'HTTP/1.1 200 '.length).slice(-20)
      if (left === 0) socket.destroy()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(left === 0 ? undefined : send(requests.slice(requests.length - left))))
  })
}

async function work(queue) {
  for (let requests = queue.shift(); requests !== undefined; requests = queue.shift()) {
    await send(requests)
    if (isEndless) queue.push(requests)
  }
}

process.on('SIGTERM', () => {
  process.stdout.write(JSON.stringify(statuses), () => process.exit())
})
await Promise.all(Array.from({ length: CONNECTING_MAX }, () => work(connections)))
process.stdout.write(JSON.stringify(statuses))
