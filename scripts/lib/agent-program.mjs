import { readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, resolve, sep } from 'node:path'
import { rolldown } from 'rolldown'
import { noticesOf } from './notices.mjs'
import { root } from './root.mjs'

const ENTRY = '\0agent-program'
const ELSEWHERE = '\0elsewhere'

/**
 * Puts the commands of the agent together in one file, `dist/agent/ctl-agent.cjs`, with the packages that they load: it is what
 * `ctl agent install` copies. Version and contract are part of it, so that its checksum is about all that it does, and a release is one
 * file. Names and lines are kept for stack traces.
 */
export async function bundleAgent(dist) {
  const main = join(dist, 'cli/main.js')
  const commands = join(dist, 'cli/commands') + sep
  const own = join(commands, 'agent') + sep
  const isForeign = (path) =>
    [commands, join(dist, 'cli/derive'), join(dist, 'server')].some((folder) => path.startsWith(folder))
  const elsewhere = `import { usageError } from ${JSON.stringify(join(dist, 'cli/errors/cli-error.js'))}
throw usageError('this copy of ctl has the commands of the agent only', 'Use that of the package: npx ctl-mesh')`
  const isOfAgent = (path) =>
    ['cli/agent', 'cli/commands/agent', 'client'].some((folder) => path.startsWith(join(dist, folder) + sep))
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const [manifest, index] = ['contract-manifest.json', 'contract-index.json'].map((name) =>
    JSON.stringify(readFileSync(join(dist, name), 'utf8').trim()),
  )
  const built = new Map([
    [join(dist, 'cli/own-version.js'), `export const ownVersion = () => ${JSON.stringify(version)}`],
    [
      join(dist, 'cli/argv/manifest-source.js'),
      `const manifest = ${manifest}
export const manifestSource = () => ({ index: ${index}, read: (from, to) => manifest.slice(from, to) })`,
    ],
  ])
  const program = {
    name: 'agent-program',
    resolveId(id, importer, { kind }) {
      if (id === 'ctl-agent') return ENTRY
      if (kind !== 'dynamic-import' || importer === undefined) return undefined
      // Packages for prompts, pictures and the like stay where they are installed; those of the agent are put in.
      if (!id.startsWith('.') && !isBuiltin(id)) return isOfAgent(importer) ? undefined : { id, external: true }
      const path = resolve(importer, '..', id)
      return isForeign(path) && !path.startsWith(own) ? ELSEWHERE : undefined
    },
    load(id) {
      if (id === ELSEWHERE) return elsewhere
      if (id !== ENTRY) return built.get(id)
      return `import { main } from ${JSON.stringify(main)}
void main(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode
})`
    },
  }
  const bundle = await rolldown({
    input: { 'ctl-agent': 'ctl-agent' },
    platform: 'node',
    external: (id) => isBuiltin(id),
    plugins: [program],
    onLog(level, log) {
      if (level === 'warn') throw new Error(`the agent cannot be put together: ${log.message}`)
    },
  })
  const { output } = await bundle.write({
    dir: join(dist, 'agent'),
    format: 'cjs',
    comments: false,
    codeSplitting: false,
    entryFileNames: '[name].cjs',
  })
  await bundle.close()
  const moduleIds = output.flatMap((chunk) => chunk.moduleIds ?? [])
  writeFileSync(join(dist, 'agent', 'LICENSES.txt'), noticesOf(moduleIds))
  return moduleIds
}
