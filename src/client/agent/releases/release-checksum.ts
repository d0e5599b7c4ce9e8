import type { AgentDeps } from '../agent-deps.ts'
import { attempt, NOT_PROVISIONED } from '../calls/attempt.ts'
import type { Member } from '../member.ts'

/** What an upgrade is asked for. */
export interface WantedRelease {
  readonly version: string
  /** As releases name it. */
  readonly architecture: string
  /** The checksum that was asked for; undefined where any of the release is. */
  readonly asked: string | undefined
}

/** The checksum of a binary, or why it must not be installed. */
export type ReleaseChecksum = { readonly checksum: string } | { readonly failure: string }

const CHECKSUM = /^[0-9a-f]{64}$/

/**
 * Reads a release as the node, and judges it: only a verified one that was not withdrawn is installed. A server that verifies no
 * releases has none; the checksum that was asked for holds then.
 */
export async function releaseChecksum(
  deps: AgentDeps,
  node: Member,
  { version, architecture, asked }: WantedRelease,
): Promise<ReleaseChecksum> {
  const outcome = await attempt(deps, node, {
    operation: 'release',
    isRepeatable: true,
    toleratedCodes: ['release_not_found'],
    call: (token) => deps.client.GetPlexdArtifact({ version }, { token }),
  })
  if (outcome.ok) return askedFor(checksumIn(outcome.value, architecture), { version, asked })
  if (outcome.code === NOT_PROVISIONED && asked !== undefined)
    return wellFormed(asked, 'the checksum that was asked for')
  return { failure: `release ${version} cannot be read: ${outcome.code}` }
}

/** It reaches the environment of a program. */
function wellFormed(checksum: string, what: string): ReleaseChecksum {
  if (CHECKSUM.test(checksum)) return { checksum }
  return { failure: `${what} is no SHA-256 in 64 hex digits` }
}

function askedFor(
  found: ReleaseChecksum,
  { version, asked }: Pick<WantedRelease, 'version' | 'asked'>,
): ReleaseChecksum {
  if ('failure' in found || asked === undefined || asked === found.checksum) return found
  return { failure: `release ${version} has another checksum than the one asked for` }
}

type Release = Awaited<ReturnType<AgentDeps['client']['GetPlexdArtifact']>>

function checksumIn(
  { version, verdict, verdict_reason: reason, support_status: support, architectures }: Release,
  architecture: string,
): ReleaseChecksum {
  if (verdict !== 'verified')
    return { failure: `release ${version} is ${verdict}${reason === undefined ? '' : `: ${reason}`}` }
  if (support === 'withdrawn') return { failure: `release ${version} was withdrawn` }
  const found = architectures.find((one) => one.architecture === architecture)
  if (found === undefined) return { failure: `release ${version} has nothing for the architecture ${architecture}` }
  return wellFormed(found.checksum, `the checksum of release ${version}`)
}
