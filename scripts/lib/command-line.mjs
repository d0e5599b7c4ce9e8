import { basename, join, sep } from 'node:path'
import { rolldown } from 'rolldown'

/**
 * Puts the compiled command line together in CommonJS chunks under `dist/ctl`, one for each set of modules that are
 * loaded together: resolving and linking ES modules one by one is most of a short command's start-up on Node 20
 * (docs/decisions/0018). Packages stay outside and are loaded as they are; the server is put together by itself.
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
  const bundle = await rolldown({
    input: { main: join(dist, 'cli/main.js'), 'pull-thread': join(dist, 'cli/agent-sim/pull-thread.js') },
    platform: 'node',
    external: (id) => !id.startsWith('.') && !id.startsWith(dist),
    plugins: [builtServer],
    // Modules of ours do nothing when they are loaded.
    treeshake: { moduleSideEffects: false },
    onLog(level, log) {
      if (level === 'warn') throw new Error(`the command line cannot be put together: ${log.message}`)
    },
  })
  const { output } = await bundle.write({
    dir: join(dist, 'ctl'),
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
  })
  await bundle.close()
  return output.length
}
