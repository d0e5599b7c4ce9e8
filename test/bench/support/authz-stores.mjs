// How fast the tuples of a datastore become an index, on PGlite in a directory and on PostgreSQL.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { loadTuples } from '../../../dist/server/adapters/embedded-authz/load-tuples.js'
import { openPglite } from '../../../dist/server/adapters/pglite/database.js'
import { openPostgres } from '../../../dist/server/adapters/postgres/database.js'
import { readSnapshot } from '../../../dist/server/adapters/postgres/feed-queries.js'
import { migrate } from '../../../dist/server/adapters/postgres/migrate.js'
import { TupleIndex } from '../../../dist/shared/authz/engine/tuple-index.js'
import { compileSchema } from '../../../dist/shared/authz/language/compile.js'
import { parseSchema } from '../../../dist/shared/authz/language/parser.js'
import { startPostgresCluster } from '../../support/datastores/postgres-cluster.mjs'
import { SCHEMA, tuplesOf } from './authz-data.mjs'
import { median } from './report.mjs'

const ROWS_MAX = 10_000
const ROUNDS = 3
const COLUMNS = ['subject_type', 'subject_id', 'subject_relation', 'relation', 'resource_type', 'resource_id']

/** Tuples a second from each datastore. */
export async function loadSpeeds(tuples) {
  return { pglite: await onPglite(tuples), postgres: await onPostgres(tuples) }
}

const onFailure = (error) => {
  throw error
}

async function onPglite(tuples) {
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-store-'))
  const datastore = await openPglite({ dataDir: directory, onFailure, warn: console.error })
  try {
    return await loadSpeed(datastore, tuples)
  } finally {
    await datastore.close()
    await rm(directory, { recursive: true })
  }
}

async function onPostgres(tuples) {
  const cluster = await startPostgresCluster({ collation: ['--locale=C'] })
  const datastore = await openPostgres({ url: cluster.url, warn: console.error })
  try {
    return await loadSpeed(datastore, tuples)
  } finally {
    await datastore.close()
    await cluster.stop()
  }
}

async function loadSpeed(datastore, tuples) {
  await migrate(datastore)
  await fill(datastore, tuples)
  const model = compileSchema(parseSchema(SCHEMA))
  const seconds = []
  for (let round = 0; round < ROUNDS; round++) {
    const index = new TupleIndex(model)
    const startedAt = performance.now()
    await readSnapshot(datastore, (snapshot) => loadTuples(snapshot, (tuple, revision) => index.touch(tuple, revision)))
    seconds.push((performance.now() - startedAt) / 1000)
    if (index.tuples !== tuples) throw new Error(`${index.tuples} of ${tuples} tuples were loaded`)
  }
  return tuples / median(seconds)
}

async function fill(datastore, tuples) {
  let rows = []
  for (const tuple of tuplesOf(tuples)) {
    rows.push(tuple)
    if (rows.length === ROWS_MAX) await insert(datastore, rows.splice(0))
  }
  if (rows.length > 0) await insert(datastore, rows)
}

async function insert(datastore, rows) {
  const columns = COLUMNS.map((column) => sql`${rows.map((row) => row[column])}::text[]`)
  await sql`
    insert into relation_tuples (id, subject_type, subject_id, subject_relation, relation, resource_type, resource_id,
      caveat_name, caveat_fields, domain_id, project_id, structural, revision, created_at)
    select gen_random_uuid(), each.*, '', '[]', null, null, false, 1, now() from unnest(${sql.join(columns)}) as each
  `.execute(datastore.pool('bulk'))
}
