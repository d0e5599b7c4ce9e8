import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { createSigstoreVerifier } from '../../../../../src/server/adapters/sigstore/sigstore-verifier.ts'
import type { ReleaseVerifier } from '../../../../../src/server/ports/release-verifier.ts'
import { createSigstoreWorld, RELEASE_SIGNER, type SigstoreWorld } from '../../../../support/sigstore/make-bundle.ts'

const BINARY = Buffer.from('the agent 1.5.0 for amd64')
const CHECKSUM = createHash('sha256').update(BINARY).digest('hex')
const SIGNED_BY = 'https://github.com/example/agent/.github/workflows/release.yml@refs/tags/v1.5.0'

let world: SigstoreWorld
let verifier: ReleaseVerifier

beforeAll(async () => {
  world = await createSigstoreWorld()
  verifier = createSigstoreVerifier({ signers: [RELEASE_SIGNER], trustedRoot: world.trustedRoot })
})

describe('a bundle is verified', () => {
  test.each([
    ['whose statement is logged as dsse', { entryKind: 'dsse 0.0.1' }],
    ['whose statement is logged as intoto', { entryKind: 'intoto 0.0.2' }],
    ['whose time is from a timestamp authority', { time: 'timestamp' }],
  ] as const)('%s', async (_, attestation) => {
    const bundle = await world.attest({ version: '1.5.0', checksum: CHECKSUM, ...attestation })
    expect(await verifier.judge({ version: '1.5.0', checksum: CHECKSUM, bundle })).toEqual({
      verdict: 'verified',
      signedBy: SIGNED_BY,
    })
  })
})
