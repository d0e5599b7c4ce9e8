import { writeFileSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { rolldown } from 'rolldown'
import { noticesOf } from './notices.mjs'

/** Packages that every command loads; all others stay outside and are loaded as they are installed. */
const INSIDE = ['commander']
/** What commander loads for programs as commands, for its own help and for its suggestions, none of which is used: 4 ms. */
const isUnused = (id, importer) =>
  /[\\/]commander[\\/]/.test(importer ?? '') && ['node:child_process', './help.js', './suggestSimilar.js'].includes(id)
const UNUSED = '\0unused'
const unusedModules = {
  name: 'unused-modules',
  resolveId: (id, importer) => (isUnused(id, importer) ? UNUSED : undefined),
  load: (id) => (id === UNUSED ? 'module.exports = {}' : undefined),
}

/**
 * Chunks of modules that are loaded together: each has the named modules and what they import statically, unless an earlier
 * chunk has it. Every command line loads `start`, all but `ctl --version` load `help`, and every command loads `call`. `input`
 * is for commands that take values, `failure` for those that fail. Without them `ctl whoami` would load 43 chunks in place of 6,
 * and start an eighth slower on Node 20.
 */
const CHUNKS = {
  start: ['main.js'],
  help: ['help/root-help.js', 'output/process-io.js', 'output/style.js'],
  call: [
    'app.js',
    'session/session.js',
    'session/held-calls.js',
    '../client/client.js',
    '../client/transport.js',
    'argv/command.js',
    'derive/derive.js',
    'derive/perform.js',
    'derive/lists.js',
    'output/emit.js',
  ],
  input: ['derive/input.js'],
  failure: ['errors/failure.js'],
}

function chunkGroups(dist) {
  return Object.entries(CHUNKS).map(([name, paths], index, { length }) => {
    const ids = new Set(paths.map((path) => join(dist, 'cli', path)))
    return { name, priority: length - index, test: (id) => ids.has(id) }
  })
}

/**
 * Puts the compiled command line together in CommonJS chunks under `dist/ctl`, one for each set of modules that are
 * loaded together: resolving and linking ES modules one by one is most of a short command's start-up on Node 20
 * (docs/decisions/0018). The server is put together by itself.
 */
export async function bundleCommandLine(dist) {
  const server = join(dist, 'server') + sep
  const builtServer = {
    name: 'built-server',
    resolveId(id, importer) {
      const path = importer === undefined ? id : join(importer, '..', id)
      return path.startsWith(server) ? { id: join(dist, 'serve', basename(id)), external: 'relative' } : undefined
    },
  }
  const isOutside = (id, importer) => !/^[./\0]/.test(id) && !INSIDE.includes(id) && !isUnused(id, importer)
  const bundle = await rolldown({
    input: { main: join(dist, 'cli/main.js'), 'pull-thread': join(dist, 'cli/agent-sim/pull-thread.js') },
    platform: 'node',
    external: isOutside,
    plugins: [builtServer, unusedModules],
    // Modules of ours do nothing when they are loaded.
    treeshake: { moduleSideEffects: false },
    // The sources import some of the modules in CHUNKS only when they need them.
    checks: { ineffectiveDynamicImport: false },
    onLog(level, log) {
      if (level === 'warn') throw new Error(`the command line cannot be put together: ${log.message}`)
    },
  })
  const { output } = await bundle.write({
    dir: join(dist, 'ctl'),
    format: 'cjs',
    comments: false,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    codeSplitting: { groups: chunkGroups(dist) },
  })
  await bundle.close()
  writeFileSync(join(dist, 'ctl', 'LICENSES.txt'), noticesOf(output.flatMap((chunk) => chunk.moduleIds ?? [])))
  return output.length
}
