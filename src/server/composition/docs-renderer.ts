import { existsSync, readFileSync } from 'node:fs'
import { packageFile } from '../../shared/package-files.ts'
import { BootError } from '../ports/boot-error.ts'

/**
 * Reads the documentation page's script.
 *
 * @throws BootError when the build has none.
 */
export function readRenderer(): Uint8Array {
  const file = packageFile('dist/docs-renderer.js')
  if (!existsSync(file))
    throw new BootError(1, 'The documentation renderer is missing: build again with npm run build.')
  return readFileSync(file)
}
