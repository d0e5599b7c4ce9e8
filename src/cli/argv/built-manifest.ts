import { readFileSync } from 'node:fs'
import { builtFile } from '../../shared/package-files.ts'
import type { Manifest } from '../../shared/contract/manifest-format.ts'

let built: Manifest | undefined

/** The contract as the build wrote it beside the modules. */
export function builtManifest(): Manifest {
  built ??= JSON.parse(readFileSync(builtFile('contract-manifest.json'), 'utf8')) as Manifest
  if (built.format !== 1) throw new Error('the contract manifest is of another build; run "npm run build"')
  return built
}
