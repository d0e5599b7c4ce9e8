import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checksumOfRelease } from './add-release.ts'
import { attestationOf, documentSignatureOf } from './stand-in-verifier.ts'

/** A release in an index; what is absent is as usual. */
export interface PublishedRelease {
  readonly version: string
  readonly support_status?: string
  readonly architectures?: readonly {
    readonly architecture: string
    readonly checksum: string
    readonly bundle?: string
  }[]
}

/** A folder that releases are published in. */
export interface IndexFolder {
  readonly path: string
  /** Writes any file below it. */
  write(path: string, content: string | Uint8Array): void
  /** Removes a file of it. */
  remove(path: string): void
  /** Writes an index with its signature, and an attestation for each architecture. */
  publish(serial: number, releases: readonly PublishedRelease[]): void
  /** Writes whatever is given as the index, signed. */
  publishText(index: string): void
  dispose(): void
}

export function makeIndexFolder(): IndexFolder {
  const path = mkdtempSync(join(tmpdir(), 'ctl-releases-'))
  function write(name: string, content: string | Uint8Array): void {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), content)
  }
  function publishText(index: string): void {
    write('index.json', index)
    write('index.json.sigstore.json', documentSignatureOf(index))
  }
  return {
    path,
    write,
    remove: (name) => rmSync(join(path, name)),
    publish(serial, releases) {
      const whole = releases.map(withArchitectures)
      for (const { architectures } of whole) {
        for (const { bundle, checksum } of architectures) {
          if (bundle !== undefined) write(bundle, attestationOf(checksum))
        }
      }
      publishText(JSON.stringify({ serial, releases: whole }))
    },
    publishText,
    dispose: () => rmSync(path, { recursive: true, force: true }),
  }
}

function withArchitectures(release: PublishedRelease) {
  const { version } = release
  const usual = ['aarch64', 'x86_64'].map((architecture) => ({
    architecture,
    checksum: checksumOfRelease(version, architecture),
    bundle: `${version}/${architecture}.sigstore.json`,
  }))
  return { ...release, architectures: release.architectures ?? usual }
}
