// Readers of streams, many to a process, each address with its own share of them.
import { once } from 'node:events'
import { connect } from 'node:net'

const OPENING = 100
const FRAME = Buffer.from('\ndata: ')
const ALIVE = Buffer.from(':keep-alive')

let arrivals = new Float64Array(0)
let arrived = 0
let wanted = Number.POSITIVE_INFINITY
let whole = () => {}
let sockets = []

async function open({ port, requests, addresses = 200 }) {
  sockets = []
  let next = 0
  const one = async () => {
    while (next < requests.length)
      sockets.push(await openOne(port, requests[next], `127.0.0.${1 + (next++ % addresses)}`))
  }
  await Promise.all(Array.from({ length: OPENING }, one))
  return sockets.length
}

async function openOne(port, { path, authorization }, localAddress) {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: ${authorization}\r\n\r\n`)
  let isOpen = false
  await new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.on('close', () => (isOpen ? undefined : reject(new Error('a stream was refused'))))
    socket.on('data', (bytes) => {
      if (isOpen) return take(bytes)
      if (!bytes.includes(ALIVE)) return
      isOpen = true
      resolve()
    })
  })
  return socket
}

function take(bytes) {
  const at = performance.timeOrigin + performance.now()
  for (let from = bytes.indexOf(FRAME); from !== -1; from = bytes.indexOf(FRAME, from + 1)) {
    arrivals[arrived++] = at
    if (arrived === wanted) whole()
  }
}

const answer = {
  open,
  /** Expects one event on every stream. Answers when it does. */
  async expect() {
    arrivals = new Float64Array(sockets.length * 2)
    arrived = 0
    wanted = sockets.length
    return undefined
  },
  /** When each of them came, once all have. */
  async arrivals() {
    if (arrived < wanted) await new Promise((resolve) => (whole = resolve))
    return arrivals.slice(0, arrived)
  },
  async close() {
    for (const socket of sockets) socket.destroy()
    setImmediate(() => process.disconnect())
  },
}

const reply = async ([id, asked, argument]) => void process.send([id, await answer[asked](argument)])
process.on('message', (message) => void reply(message))
process.send(['ready', undefined])
