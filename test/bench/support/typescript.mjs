// Imports TypeScript of the tests, which Node.js 20 does not run.
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

const DIST = fileURLToPath(new URL('../../../dist/', import.meta.url))

/** A module keeps the URL of its source, by which it finds files beside it. */
const SOURCE_URLS = {
  name: 'source-urls',
  transform: (code, id) => code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
}

/** Imports a TypeScript module by the URL of its file. */
export async function importTypeScript(url) {
  // Below the repository, so that the packages that it imports are found.
  const compiled = await mkdtemp(join(DIST, 'bench-'))
  try {
    const bundle = await rolldown({
      input: fileURLToPath(url),
      platform: 'node',
      external: (id) => !id.startsWith('.') && !id.startsWith('/'),
      plugins: [SOURCE_URLS],
    })
    const { output } = await bundle.write({ dir: compiled, format: 'esm', entryFileNames: '[name].mjs' })
    await bundle.close()
    return await import(pathToFileURL(join(compiled, output[0].fileName)).href)
  } finally {
    await rm(compiled, { recursive: true, force: true })
  }
}
