// Runs in a network namespace: answers on the ports of its first argument (`tcp:22,udp:53`), and carries out commands that come
// as JSON lines, each answered by one line.
//   {"reach":[{"protocol","address","port"}],"timeoutMs"}   which of them answer, as booleans
//   {"open":{"protocol","address","port"}}                  keeps a flow; answers its name
//   {"send":NAME,"timeoutMs"}                               whether the flow still echoes
//   {"subscribe":{"protocol","address","port"}}             a flow on which the other end sends by itself
//   {"heard":NAME}                                          how much came on it
//   {"quiet":true}                                          ends what others have subscribed to
//   {"forget":true}                                         closes its flows at once
import { execFile } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'

const flows = new Map()
const subscriptions = new Set()
let names = 0

await Promise.all((process.argv[2] ?? '').split(',').filter(Boolean).map(listen))
process.stdout.write('"ready"\n')
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`)
}
process.exit(0)

async function listen(text) {
  const [protocol, port] = text.split(':')
  if (protocol === 'tcp') {
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (bytes) => serve(bytes, () => socket.write('y')))
    })
    await new Promise((resolve) => server.listen(Number(port), '0.0.0.0', resolve))
    return
  }
  const socket = createSocket('udp4')
  socket.on('error', () => undefined)
  socket.on('message', (bytes, from) => serve(bytes, () => socket.send('y', from.port, from.address, () => undefined)))
  await new Promise((resolve) => socket.bind(Number(port), '0.0.0.0', resolve))
}

function serve(bytes, send) {
  send()
  if (bytes.toString() === 'subscribe') subscriptions.add(setInterval(() => send(), 20))
}

function quieten() {
  for (const timer of subscriptions) clearInterval(timer)
  subscriptions.clear()
  return true
}

function forgetAll() {
  for (const { socket } of flows.values()) (socket.resetAndDestroy ?? socket.close).call(socket)
  flows.clear()
  return true
}

async function answer({ reach, open, send, subscribe, heard, quiet, forget, timeoutMs = 1000 }) {
  if (quiet) return quieten()
  if (forget) return forgetAll()
  if (reach) return Promise.all(reach.map((target) => reaches(target, timeoutMs)))
  if (open) return keep(await openTcp(open, timeoutMs))
  if (send) return echoes(flows.get(send).socket, timeoutMs)
  if (subscribe) return keep({ socket: await subscribed(subscribe, timeoutMs) })
  return flows.get(heard).socket.count
}

function keep(flow) {
  names += 1
  flows.set(`flow-${names}`, flow)
  return `flow-${names}`
}

function openTcp({ address, port }, timeoutMs) {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port })
    const timer = setTimeout(() => reject(new Error('no connection')), timeoutMs)
    socket.on('error', reject)
    socket.once('connect', () => {
      clearTimeout(timer)
      resolve({ socket })
    })
  })
}

function echoes(socket, timeoutMs) {
  return new Promise((resolve) => {
    const done = (isEchoed) => {
      clearTimeout(timer)
      socket.removeAllListeners('data')
      resolve(isEchoed)
    }
    const timer = setTimeout(() => done(false), timeoutMs)
    socket.once('data', () => done(true))
    socket.write('x')
  })
}

async function subscribed({ protocol, address, port }, timeoutMs) {
  const socket = protocol === 'tcp' ? (await openTcp({ address, port }, timeoutMs)).socket : createSocket('udp4')
  socket.count = 0
  socket.on('error', () => undefined)
  socket.on(protocol === 'tcp' ? 'data' : 'message', () => (socket.count += 1))
  if (protocol === 'tcp') socket.write('subscribe')
  else await new Promise((resolve) => socket.send('subscribe', port, address, resolve))
  return socket
}

function reaches({ protocol, address, port }, timeoutMs) {
  if (protocol === 'icmp') return pings(address, timeoutMs)
  return protocol === 'tcp' ? connects(address, port, timeoutMs) : exchanges(address, port, timeoutMs)
}

function pings(address, timeoutMs) {
  return new Promise((resolve) => {
    execFile('ping', ['-n', '-q', '-c', '1', '-W', String(timeoutMs / 1000), address], (error) => resolve(!error))
  })
}

function connects(address, port, timeoutMs) {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port })
    const done = (isEchoed) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(isEchoed)
    }
    const timer = setTimeout(() => done(false), timeoutMs)
    socket.on('error', () => done(false))
    socket.once('connect', () => socket.write('x'))
    socket.once('data', () => done(true))
  })
}

function exchanges(address, port, timeoutMs) {
  return new Promise((resolve) => {
    const socket = createSocket('udp4')
    const done = (isEchoed) => {
      clearTimeout(timer)
      socket.close()
      resolve(isEchoed)
    }
    const timer = setTimeout(() => done(false), timeoutMs)
    socket.on('error', () => undefined)
    socket.once('message', () => done(true))
    socket.send('x', port, address, () => undefined)
  })
}
