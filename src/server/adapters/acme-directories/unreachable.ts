import { problem, type Problem } from '../../../shared/problems.ts'
import { OutgoingFetchError } from '../../ports/outgoing-fetch.ts'

/** Longest directory in bytes: some fifty times the usual size. */
export const DIRECTORY_BYTES_MAX = 64 * 1024

/** Sentences by what the guarded fetch says. None has a part of the URL, which may come from a secret. */
const REASONS: Readonly<Record<OutgoingFetchError['reason'], string>> = {
  forbidden_address: 'The directory is not at a public address, and --acme-allow-hosts does not name its host.',
  redirect: 'The directory answers with a redirect, which is not followed.',
  too_large: `The directory is longer than ${DIRECTORY_BYTES_MAX} bytes.`,
  timeout: 'The directory gave no complete answer within 5 s.',
  unreachable: 'The directory cannot be reached',
}

/** The problem of a directory that cannot be used, with a sentence that names no part of a secret. */
export function unreachable(reason: string, cause?: unknown): Problem {
  return problem('acme_directory_unreachable', { reason }, cause)
}

/** Translates a failed fetch. Codes of the system and of TLS, such as `ECONNREFUSED`, are part of the reason. */
export function translated(error: unknown): unknown {
  if (!(error instanceof OutgoingFetchError)) return error
  const sentence = REASONS[error.reason]
  if (error.reason !== 'unreachable') return unreachable(sentence, error)
  return unreachable(error.code === undefined ? `${sentence}.` : `${sentence}: ${error.code}.`, error)
}
