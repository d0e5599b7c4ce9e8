import { openSync, readFileSync, readSync } from 'node:fs'
import { builtFile } from '../../shared/package-files.ts'
import type { ManifestSource } from '../../shared/contract/manifest-files.ts'

/**
 * Opens the manifest that the build wrote beside the modules. The file of the operations stays open, so that a later build
 * cannot replace it under this index. The agent's program has a module of its own in place of this one.
 */
export function manifestSource(): ManifestSource {
  const index = readFileSync(builtFile('contract-index.json'), 'utf8')
  const manifest = openSync(builtFile('contract-manifest.json'), 'r')
  return {
    index,
    read(from, to) {
      const bytes = Buffer.allocUnsafe(to - from)
      const length = readSync(manifest, bytes, 0, bytes.length, from)
      return bytes.toString('latin1', 0, length)
    },
  }
}
