// Releases for benchmarks. What makes them is TypeScript, which Node.js 20 does not run.
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

const SOURCE = fileURLToPath(new URL('../../support/releases/signed-releases.ts', import.meta.url))
const DIST = fileURLToPath(new URL('../../../dist/', import.meta.url))

/** Publishes releases in a folder. Returns the arguments of `ctl serve` with which a server takes them. */
export async function publishSignedReleases(directory, versions) {
  // Below the repository, so that the packages that it imports are found.
  const compiled = await mkdtemp(join(DIST, 'bench-'))
  try {
    const bundle = await rolldown({
      input: SOURCE,
      platform: 'node',
      external: (id) => !id.startsWith('.') && !id.startsWith('/'),
    })
    const { output } = await bundle.write({ dir: compiled, format: 'esm', entryFileNames: '[name].mjs' })
    await bundle.close()
    const module = await import(pathToFileURL(join(compiled, output[0].fileName)).href)
    return await module.publishSignedReleases(directory, versions)
  } finally {
    await rm(compiled, { recursive: true, force: true })
  }
}
