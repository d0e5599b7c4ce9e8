import { createHash } from 'node:crypto'
import type { Db } from '../../../src/server/ports/datastore.ts'
import { precedenceOf } from '../../../src/shared/semantic-version.ts'
import { attestationOf, STAND_IN_SIGNER } from './stand-in-verifier.ts'

/** What a release has other than usual. */
interface ReleaseMembers {
  /** By default one of `x86_64` and one of `aarch64`. */
  readonly architectures?: readonly string[]
  readonly supportStatus?: 'supported' | 'deprecated' | 'withdrawn'
  /** Why it is unverified; verified where it is absent. */
  readonly unverified?: string
  /** Of the verifier that judged it; by default that of the stand-in. */
  readonly judgedWith?: string
  /** Without attestations. */
  readonly isBare?: boolean
  readonly at?: Date
}

const ARCHITECTURES = ['x86_64', 'aarch64'] as const
const ADDED_AT = new Date('2026-03-01T08:00:00.000Z')

/** The checksum of the binary of an added release, 64 hex digits. */
export function checksumOfRelease(version: string, architecture: string): string {
  return createHash('sha256').update(`${version} ${architecture}`).digest('hex')
}

/** Inserts a release as the server stores one: verified and supported unless the members say otherwise. */
export async function addRelease(db: Db, version: string, members: ReleaseMembers = {}): Promise<void> {
  const { architectures = ARCHITECTURES, isBare = false } = members
  const rows = architectures.map((architecture) => {
    const checksum = checksumOfRelease(version, architecture)
    const bundle = isBare ? null : attestationOf(checksum)
    return { version, architecture, checksum: Buffer.from(checksum, 'hex'), bundle }
  })
  await db.insertInto('releases').values(releaseRow(version, members)).execute()
  await db.insertInto('release_architectures').values(rows).execute()
}

function releaseRow(version: string, members: ReleaseMembers) {
  const { supportStatus = 'supported', unverified, judgedWith = 'stand-in', at = ADDED_AT } = members
  const precedence = precedenceOf(version)
  if (precedence === undefined) throw new Error(`${version} is no semantic version`)
  return {
    version,
    precedence,
    support_status: supportStatus,
    verdict: unverified === undefined ? ('verified' as const) : ('unverified' as const),
    verdict_reason: unverified ?? null,
    signed_by: unverified === undefined ? STAND_IN_SIGNER : null,
    judged_with: judgedWith,
    created_at: at,
    updated_at: at,
  }
}
