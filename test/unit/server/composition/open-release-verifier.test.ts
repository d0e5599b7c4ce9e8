import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openReleaseVerifier } from '../../../../src/server/composition/open-release-verifier.ts'
import { createSigstoreWorld, RELEASE_SIGNER } from '../../../support/sigstore/make-bundle.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trusted-root-'))
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

function fileWith(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

test('there is no verification without signers, and no file is read', async () => {
  const verifier = await openReleaseVerifier({ releaseSigners: [], sigstoreTrustedRoot: join(folder, 'missing.json') })
  expect(verifier).toBeUndefined()
})

test('the packaged trusted root is used where no file is named', async () => {
  const verifier = await openReleaseVerifier({ releaseSigners: [RELEASE_SIGNER], sigstoreTrustedRoot: undefined })
  expect(verifier?.fingerprint).toMatch(/^[0-9a-f]{64}$/)
})

test('the trusted root of the file is the one that counts', async () => {
  const world = await createSigstoreWorld()
  const path = fileWith('root.json', world.trustedRoot)
  const verifier = await openReleaseVerifier({ releaseSigners: [RELEASE_SIGNER], sigstoreTrustedRoot: path })
  const binary = Buffer.from('agent')
  const checksum = 'd4f0bc5a29de06b510f9aa428f1eedba926012b591fef7a518e776a7c9bd1824'
  const bundle = await world.attest({ version: '1.0.0', checksum, binary })
  expect(await verifier?.judge({ version: '1.0.0', checksum, bundle })).toMatchObject({ verdict: 'verified' })
})

describe('a server does not start', () => {
  const opening = (path: string) => openReleaseVerifier({ releaseSigners: [RELEASE_SIGNER], sigstoreTrustedRoot: path })

  test('without the file', async () => {
    const path = join(folder, 'missing.json')
    await expect(opening(path)).rejects.toMatchObject({
      name: 'BootError',
      exitCode: 1,
      message: `--sigstore-trusted-root names ${path}, which cannot be read.`,
    })
  })

  test('with a folder in its place', async () => {
    await expect(opening(folder)).rejects.toMatchObject({
      exitCode: 1,
      message: `--sigstore-trusted-root names ${folder}, which cannot be read.`,
    })
  })

  test.each([
    ['no-json.json', 'hello', 'is not JSON'],
    ['no-root.json', '{}', 'is not a trusted root of Sigstore: mediaType is missing or malformed'],
  ])('with a malformed one: %s', async (name, content, fault) => {
    const path = fileWith(name, content)
    await expect(opening(path)).rejects.toMatchObject({
      exitCode: 1,
      message: `--sigstore-trusted-root names ${path}, which ${fault}.`,
    })
  })
})
