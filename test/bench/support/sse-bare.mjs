// The baseline of the benchmark of streams: node:http and a map of answers, nothing else.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { envelopeOf, serveWaves } from './sse-waves.mjs'

const count = Number(process.argv[2])
const readers = new Map()
const server = createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.write(':keep-alive\n\n')
  const id = request.url
  readers.set(id, response)
  response.on('close', () => readers.delete(id))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

const ids = Array.from(
  { length: count },
  (_, index) => `/v1/nodes/0190b000-0000-7000-8000-${String(index).padStart(12, '0')}/events`,
)
let seq = 0
serveWaves({
  port: server.address().port,
  requests: ids.map((path) => ({ path, authorization: 'Bearer nobody' })),
  prepare: (wave) => ids.map((id) => ({ id, seq: (seq += 1), wire: envelopeOf(id.slice(10, 46), wave) })),
  deliver(events) {
    for (const event of events) {
      readers.get(event.id)?.write(`id: ${event.seq}\nevent: node_state_updated\ndata: ${event.wire}\n\n`)
    }
  },
  async close() {
    server.closeAllConnections()
    server.close()
  },
})
