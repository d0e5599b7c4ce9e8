import { TransportFailure } from '../../client/failures.ts'
import type { PinnedAuthority } from '../../client/pinned-authority.ts'
import { pinnedDigest } from '../../client/pinned-digest.ts'
import { CliError, usageError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/exit-code.ts'
import { transportSentence } from '../errors/transport-sentence.ts'

/** The flag that names a certificate authority by its digest. */
export const CA_SHA256_FLAG = {
  kind: 'text',
  value: 'HEX',
  describe: 'Trust this certificate authority alone: the SHA-256 that "ctl serve --tls-self-signed" prints',
  also: 'CTL_CA_SHA256',
} as const

/** The digest in its one spelling. @throws CliError for another text */
export function digestFrom(text: string, origin: string): string {
  const digest = pinnedDigest(text)
  if (digest === undefined) throw usageError(`${origin} needs a SHA-256: 64 hex digits`)
  return digest
}

/** Fetches the authority from the server, PEM. @throws CliError where the server does not show it */
export async function fetchAuthority(pinned: PinnedAuthority): Promise<string> {
  const { url } = pinned
  if (!url.startsWith('https:'))
    throw usageError(`${url} shows no certificate`, 'Use --ca-sha256 with an https:// URL.')
  const { fetchPinnedAuthority, UnprovenAuthority } = await import('../../client/pinned-authority.ts')
  try {
    return await fetchPinnedAuthority(pinned)
  } catch (error) {
    const hints = error instanceof UnprovenAuthority ? [error.advice] : []
    throw error instanceof TransportFailure ? notFetched(url, error, hints) : error
  }
}

function notFetched(url: string, failure: TransportFailure, hints: readonly string[]): CliError {
  if (failure.fault === 'aborted')
    return new CliError('interrupted', { exitCode: EXIT.interrupted, code: 'interrupted', cause: failure })
  return new CliError(transportSentence(url, failure), {
    exitCode: EXIT.unavailable,
    code: failure.fault,
    hints,
    cause: failure,
  })
}
