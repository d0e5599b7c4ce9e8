import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { createReadGate } from '../../../src/server/http/limits/read-gate.ts'
import { openRawSocket, requestBytes } from '../../support/network/raw-socket.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean()
})

const CONNECTIONS = 100
const REQUESTS = 40

it('a turn that reads for too long pauses what it has not come to, but for trusted connections, and all are answered', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  const gate = createReadGate(server)
  await once(server, 'listening')
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => sockets.push(socket))
  const { port } = server.address() as AddressInfo
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => openRawSocket(port)))
  cleanups.push(
    () => server.close(),
    () => connections.forEach((connection) => connection.destroy()),
  )
  await expect.poll(() => sockets.length).toBe(CONNECTIONS)
  const [trusted] = sockets.slice(-1)
  if (trusted !== undefined) gate.trust(trusted)

  let [pausedMax, trustedPaused] = [0, false]
  server.on('request', (_request, response) => {
    // As long as it takes: a turn holds as many requests as the clock allows, whatever the machine.
    for (const untilMs = performance.now() + 1; performance.now() < untilMs;);
    gate.passed()
    pausedMax = Math.max(pausedMax, sockets.filter((socket) => socket.isPaused()).length)
    trustedPaused ||= trusted?.isPaused() === true
    response.end()
  })
  for (const connection of connections) connection.send(requestBytes('GET /').repeat(REQUESTS))
  const answers = await Promise.all(connections.map((connection) => connection.answers(REQUESTS)))
  expect(new Set(answers.map(({ length }) => length))).toEqual(new Set([REQUESTS]))
  expect([pausedMax > 0, trustedPaused]).toEqual([true, false])
})
