import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

/** Bundles a TypeScript file of this folder, with what it imports of the sources, into one that Node runs. */
export async function bundledChild(file: string): Promise<string> {
  const bundle = await rolldown({ input: fileURLToPath(new URL(file, import.meta.url)), platform: 'node' })
  const path = join(mkdtempSync(join(tmpdir(), 'ctl-child-')), 'child.mjs')
  await bundle.write({ file: path, format: 'esm' })
  await bundle.close()
  return path
}
