// The baseline of benchmarks of large answers: Fastify with one route that sends the bytes of a file, in a process of its own.
import Fastify from 'fastify'
import { readFileSync } from 'node:fs'

const bytes = readFileSync(process.argv[2])
const app = Fastify()
app.get('/', (_request, reply) => reply.type('application/json; charset=utf-8').send(bytes))
const url = await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${JSON.stringify({ event: 'ready', url })}\n`)
process.on('SIGTERM', () => {
  void app.close().then(() => process.exit(0))
})
