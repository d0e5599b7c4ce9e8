import { writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { noticesOf } from './notices.mjs'

/** What the command line reaches of the server, and the thread of the embedded engine, which looks for itself beside the chunk that starts it. */
const ENTRIES = {
  serve: 'commands/serve.js',
  'bootstrap-token': 'commands/bootstrap-token.js',
  'master-key-rotate': 'commands/master-key-rotate.js',
  'after-restore': 'commands/after-restore.js',
  artifacts: 'commands/artifacts.js',
  'backup-create': 'commands/backup-create.js',
  'backup-restore': 'commands/backup-restore.js',
  'backup-verify': 'commands/backup-verify.js',
  'upgrade-rehearse': 'commands/upgrade-rehearse.js',
  'admin-users-add': 'commands/admin-users-add.js',
  worker: 'adapters/pglite/worker.js',
}

/** Packages that are loaded as they are installed; every other is put in. */
const OUTSIDE = [
  // Finds its WebAssembly and its data beside its own modules.
  '@electric-sql/pglite',
  // Loads an optional native driver by name.
  'pg',
  // Loaded by the few starts, or at the first of the few requests, that need them.
  '@authzed/authzed-node',
  '@nats-io/jetstream',
  '@nats-io/transport-node',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace-base',
  '@sigstore/bundle',
  '@sigstore/protobuf-specs',
  '@sigstore/verify',
  '@simplewebauthn/server',
  'oidc-provider',
  'otpauth',
  'tar-stream',
  'undici',
  'uqr',
]

const isOutside = (id) => isBuiltin(id) || OUTSIDE.some((name) => id === name || id.startsWith(`${name}/`))

/**
 * Puts the compiled server together in ES module chunks under `dist/serve`, with the packages that every start loads:
 * finding, reading and linking a thousand modules one by one was half of a start (docs/decisions/0042). Names and lines
 * are kept for stack traces, comments are not.
 */
export async function bundleServer(dist) {
  const input = Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, join(dist, 'server', path)]))
  const bundle = await rolldown({
    input,
    platform: 'node',
    external: isOutside,
    onLog(level, log) {
      if (level === 'warn') throw new Error(`the server cannot be put together: ${log.message}`)
    },
  })
  const { output } = await bundle.write({
    dir: join(dist, 'serve'),
    format: 'esm',
    comments: false,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  })
  await bundle.close()
  writeFileSync(join(dist, 'serve', 'LICENSES.txt'), noticesOf(output.flatMap((chunk) => chunk.moduleIds ?? [])))
}
