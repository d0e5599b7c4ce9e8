// Makes the archive that a new embedded datastore begins as: the engine's directory, initialised, with this version's
// schema, shut down in order. Initialising and migrating costs seconds, so it is kept for as long as what goes in is the same.
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { archiveOf } from './archive.mjs'
import { root } from './root.mjs'

const ENGINE = '@electric-sql/pglite'
const ADAPTERS = join(root, 'src/server/adapters')

/** Where this checkout's own engine is. */
const engineEntry = () => createRequire(import.meta.url).resolve(ENGINE)

function engineVersion() {
  const entry = engineEntry()
  const manifest = join(entry.slice(0, entry.lastIndexOf(ENGINE) + ENGINE.length), 'package.json')
  return JSON.parse(readFileSync(manifest, 'utf8')).version
}

/** A name for the schema that the sources migrate to. */
export function schemaKey() {
  const migrations = join(ADAPTERS, 'postgres/migrations')
  const files = readdirSync(migrations)
    .toSorted()
    .map((name) => join(migrations, name))
  return digestOf([join(ADAPTERS, 'postgres/migrate.ts'), ...files].map((file) => readFileSync(file)))
}

/** A name for all that decides what is in the archive. */
const archiveKey = () => digestOf([engineVersion(), readFileSync(fileURLToPath(import.meta.url)), schemaKey()])

function digestOf(parts) {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex').slice(0, 16)
}

/** The engine never creates another database: its templates are more than a third of the files of a first start. */
async function dropTemplates(engine) {
  await engine.query("update pg_database set datistemplate = false where datname like 'template%'")
  for (const name of ['template0', 'template1']) await engine.query(`drop database ${name}`)
}

/** Lays out what `openPglite` takes for a data directory that is ready. */
async function initialize(dataDir) {
  const directory = join(dataDir, 'database', 'pgdata')
  mkdirSync(join(dataDir, 'database'))
  const { PGlite } = await import(ENGINE)
  const engine = await PGlite.create(directory)
  await dropTemplates(engine)
  await engine.close()
  cpSync(join(directory, 'PG_VERSION'), join(dataDir, 'database', 'ready'))
  return directory
}

async function make({ openPglite, migrate }) {
  const dataDir = mkdtempSync(join(tmpdir(), 'ctl-blank-'))
  try {
    const directory = await initialize(dataDir)
    const datastore = await openPglite({ dataDir })
    await migrate(datastore)
    await datastore.close()
    return gzipSync(archiveOf(directory))
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/**
 * Path of the archive that belongs to the sources as they are.
 * @param {{ openPglite: Function, migrate: Function }} datastores How to open and to migrate one, compiled or as sources.
 */
export async function blankDatabase(datastores) {
  const folder = join(root, 'node_modules/.cache/ctl-blank-database')
  const path = join(folder, `${archiveKey()}.tar.gz`)
  if (existsSync(path)) return path
  mkdirSync(folder, { recursive: true })
  const made = `${path}.${process.pid}`
  writeFileSync(made, await make(datastores))
  renameSync(made, path)
  return path
}
