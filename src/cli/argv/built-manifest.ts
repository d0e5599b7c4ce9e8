import { readManifest } from '../../shared/contract/manifest-files.ts'
import type { Manifest } from '../../shared/contract/manifest-format.ts'
import { manifestSource } from './manifest-source.ts'

let built: Manifest | undefined

/** The contract as the build wrote it. Each operation is parsed when it is first read. */
export function builtManifest(): Manifest {
  built ??= readManifest(manifestSource())
  if (built.format !== 2) throw new Error('the contract manifest is of another build; run "npm run build"')
  return built
}
