// The baseline of the integrity benchmark: Fastify that gathers posts while a batch is on its way, and passes each batch to one
// statement, two batches at a time, as the server does. It has no credential, no schema, no gate and no audit.
import Fastify from 'fastify'
import pg from 'pg'

const [databaseUrl, path, statement] = process.argv.slice(2)
const LANES = 2
const BATCH_MAX = 512
const pool = new pg.Pool({ connectionString: databaseUrl, max: LANES })
const lanes = Array.from({ length: LANES }, () => ({ waiting: [], isBusy: false }))

async function run(lane) {
  lane.isBusy = true
  while (lane.waiting.length > 0) {
    const batch = lane.waiting.splice(0, BATCH_MAX)
    const rows = batch.map(({ row }, place) => ({ ...row, p: place }))
    try {
      await pool.query(statement, [JSON.stringify(rows)])
      for (const { resolve } of batch) resolve()
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
  lane.isBusy = false
}

const app = Fastify()
app.route({ method: 'POST', url: path, handler: answer })

async function answer(request) {
  const { node_id: node, violations } = request.body
  const now = new Date().toISOString()
  const [{ kind: k, artifact: a, observed_checksum: o, expected_checksum: e, detected_at: at }] = violations
  const row = { n: node, k, a, o, e, t: 1, w: 1, df: at, dt: at, af: now, at: now }
  const lane = lanes[Number.parseInt(node.slice(-1), 16) % LANES]
  await new Promise((resolve, reject) => {
    lane.waiting.push({ row, resolve, reject })
    if (!lane.isBusy) void run(lane)
  })
  return { accepted_at: now, violation_count: 1 }
}
const url = await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${JSON.stringify({ event: 'ready', url })}\n`)
process.on('SIGTERM', () => {
  void app
    .close()
    .then(() => pool.end())
    .then(() => process.exit(0))
})
