import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { BootError } from './boot-error.ts'

/** Where the build puts it, seen from the build itself and from the sources. */
const PLACES = ['../docs-renderer.js', '../../dist/docs-renderer.js'] as const

/**
 * Reads the documentation page's script.
 *
 * @throws BootError when the build has none.
 */
export function readRenderer(): Uint8Array {
  const places = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)))
  const found = places.find((place) => existsSync(place))
  if (found === undefined)
    throw new BootError(1, 'The documentation renderer is missing: build again with npm run build.')
  return readFileSync(found)
}
