// The baseline of the catalogue benchmark: Fastify that sends the rows of one statement as JSON, in a process of its own. It
// has no credential, no gate and no audit.
import Fastify from 'fastify'
import pg from 'pg'

const [databaseUrl, path, statement, argument] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: databaseUrl, max: 20 })
const values = argument === '' ? [] : [argument]
const app = Fastify()
app.get(path, async (_request, reply) => {
  const { rows } = await pool.query(statement, values)
  return reply.type('application/json').send(JSON.stringify(rows))
})
const url = await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${JSON.stringify({ event: 'ready', url })}\n`)
process.on('SIGTERM', () => {
  void app
    .close()
    .then(() => pool.end())
    .then(() => process.exit(0))
})
