// The baseline of the HTTP benchmarks: Fastify with one route and nothing else, in a process of its own.
import Fastify from 'fastify'

const [path, answer] = process.argv.slice(2)
const value = JSON.parse(answer)
const app = Fastify()
app.post(path, async () => value)
const url = await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${JSON.stringify({ event: 'ready', url })}\n`)
process.on('SIGTERM', () => {
  void app.close().then(() => process.exit(0))
})
