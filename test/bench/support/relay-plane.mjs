// A whole server of this build in one process with what makes its load: changes that no operation makes yet are committed
// through its own unit of work, and what the relay has before it is read where metrics read it.
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { openBackend } from '../../../dist/server/composition/backend.js'
import { parseConfig } from '../../../dist/server/config/config.js'
import { readRelayLag } from '../../../dist/server/event-relay/lag-store.js'
import { createTokenFile } from '../../../dist/server/first-run/token-file.js'
import { createLog } from '../../../dist/server/composition/log.js'
import { serve } from '../../../dist/server/composition/serve.js'
import { sql } from 'kysely'

const [directory, databaseUrl] = process.argv.slice(2)
const tokenFile = `${directory}/token`
const config = parseConfig({
  argv: ['--listen', '127.0.0.1:0', '--data-dir', `${directory}/data`, '--bootstrap-token-file', tokenFile],
  env: {
    ...process.env,
    ...(databaseUrl && {
      SERVICE_DATABASE_URL: databaseUrl,
      SERVICE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    }),
  },
  uid: undefined,
})
let backend
const server = await serve({
  config,
  log: createLog('warn', process.stderr),
  handover: createTokenFile(tokenFile),
  onBroken: (error) => {
    throw error
  },
  async openBackend(...options) {
    backend = await openBackend(...options)
    return backend
  },
})

/** One transaction with those outbox rows. */
function commit(events) {
  const options = { pool: 'interactive', correlationId: backend.ids.next() }
  return backend.unitOfWork.run(options, async ({ emit }) => events.forEach(emit))
}

/** Processor time of this process, in cores. */
function coresSince(before, seconds) {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6 / seconds
}

const nowMs = () => performance.timeOrigin + performance.now()

/** An execution for the node, which says when its transaction began. */
function request({ nodeId, domainId }) {
  const executionId = backend.ids.next()
  const payload = {
    node_id: nodeId,
    execution_id: executionId,
    action: 'ping',
    type: 'builtin',
    parameters: { begun_ms: nowMs() },
    status: 'pending',
    requested_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 300_000).toISOString(),
  }
  return { event: 'execution_requested', domainId, aggregate: `execution:${executionId}`, payload }
}

/** Commits `rate` executions a second, `perChange` in each transaction, however long each takes. */
async function requests({ nodes, rate, perChange, seconds }) {
  const pending = new Set()
  const cpuBefore = process.cpuUsage()
  const begun = performance.now()
  const total = Math.floor((rate * seconds) / perChange) * perChange
  let sent = 0
  while (sent < total) {
    const due = Math.min(total, Math.floor(((performance.now() - begun) / 1000) * rate))
    while (sent + perChange <= due) {
      const events = Array.from({ length: perChange }, (_, index) => request(nodes[(sent + index) % nodes.length]))
      sent += perChange
      const change = commit(events).finally(() => pending.delete(change))
      pending.add(change)
    }
    await sleep(2)
  }
  await Promise.all(pending)
  const took = (performance.now() - begun) / 1000
  return { committed: sent, took, cpu: coresSince(cpuBefore, took) }
}

/** Fills a Domain with nodes whose lanes are open, as registrations would have left it. */
async function fill({ domainId, count }) {
  const db = backend.datastore.pool('bulk')
  await sql`
    insert into nodes (id, domain_id, name, kind, public_key, mesh_address, psk_sealed, psk_issued_at, labels, ephemeral, created_at, updated_at)
    select ('018f0000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, ${domainId}, 'filler-' || n, 'vm',
      decode(md5(n::text) || md5('x' || n), 'hex'), '10.0.0.0'::inet + n, '\\x00', 1, '{}', false, now(), now()
    from generate_series(1, ${count}::integer) as n`.execute(db)
  await sql`
    insert into node_lanes (node_id, domain_id, hinted_seq, hinted_at)
    select nodes.id, domain_id, outbox_head.seq, to_timestamp(0) from nodes, outbox_head where name like 'filler-%'`.execute(
    db,
  )
  await sql`analyze`.execute(db)
}

/** Changes endpoints of that Domain's nodes at that rate, and reads twice a second what the relay has before it. */
async function endpoints({ domainId, count, perMinute, seconds }) {
  const samples = []
  const cpuBefore = process.cpuUsage()
  const begun = performance.now()
  const head = async () => {
    const { rows } =
      await sql`select seq, (select count(*) from outgoing_events) as outgoing from event_log_head`.execute(
        backend.datastore.pool('bulk'),
      )
    return Number(rows[0].seq)
  }
  const before = await head()
  let changes = 0
  while (performance.now() - begun < seconds * 1000) {
    const due = Math.floor(((performance.now() - begun) / 60_000) * perMinute) + 1
    for (; changes < due; changes += 1) {
      const nodeId = `018f0000-0000-7000-8000-${(((changes * 7919) % count) + 1).toString(16).padStart(12, '0')}`
      const payload = { node_id: nodeId, endpoint: `198.51.100.7:${10_000 + changes}` }
      await commit([{ event: 'peer_endpoint_changed', domainId, aggregate: `node:${nodeId}`, payload }])
    }
    await sleep(500)
    const { rows, seconds: lag } = await readRelayLag(backend.datastore.pool('bulk'), Date.now())
    samples.push({ at: performance.now() - begun, hints: rows.hints, waiting: rows.signing + rows.publishing, lag })
  }
  const elapsed = (performance.now() - begun) / 1000
  return {
    changes,
    samples,
    cpu: coresSince(cpuBefore, elapsed),
    published: ((await head()) - before) / elapsed,
    rssMb: Math.round(process.memoryUsage().rss / 1e6),
  }
}

/** Makes nodes hosts of a resource, however many. */
async function host({ resourceId, nodeIds }) {
  await sql`
    insert into resource_hosts (resource_id, node_id) select ${resourceId}, unnest(${nodeIds}::uuid[])`.execute(
    backend.datastore.pool('bulk'),
  )
}

const commands = {
  requests,
  fill,
  host,
  endpoints,
  async stop() {
    await server.close()
    await rm(directory, { recursive: true, force: true })
  },
}

async function obey({ command, parameters }) {
  const result = await commands[command](parameters)
  process.send({ result })
  if (command === 'stop') process.disconnect()
}

// What it fails with ends the process, and so the benchmark.
process.on('message', (message) => void obey(message))
process.send({ url: server.url })
