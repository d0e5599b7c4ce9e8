// Releases for benchmarks.
import { importTypeScript } from './typescript.mjs'

const SOURCE = new URL('../../support/releases/signed-releases.ts', import.meta.url)

/** Publishes releases in a folder. Returns the arguments of `ctl serve` with which a server takes them. */
export async function publishSignedReleases(directory, versions) {
  const module = await importTypeScript(SOURCE)
  return module.publishSignedReleases(directory, versions)
}
