import { codeOf, OutgoingFetchError } from '../../ports/outgoing-fetch.ts'

/** Codes of undici and Node that mean that time ran out. */
const TIMEOUTS = /^(UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT)$/

/** The external end of a request: its deadline, or its caller. */
export function gone(timeout: AbortSignal, deadlineMs: number): OutgoingFetchError {
  return timeout.aborted
    ? new OutgoingFetchError('timeout', `no complete answer came within ${deadlineMs / 1000} s`)
    : new OutgoingFetchError('unreachable', 'the request was given up')
}

/** The target of a request, and its external end, if any. */
interface Ended {
  readonly host: string
  readonly failure: OutgoingFetchError | undefined
}

/** Turns what undici and Node throw into the port's error. */
export function fetchFailure(error: unknown, { host, failure }: Ended): OutgoingFetchError {
  const found = ownFailure(error) ?? failure
  if (found !== undefined) return found
  const code = codeOf(error) ?? ''
  if (TIMEOUTS.test(code)) return new OutgoingFetchError('timeout', `${host} does not answer in time`, error)
  return new OutgoingFetchError('unreachable', `${host} cannot be asked${code === '' ? '' : `: ${code}`}`, error)
}

/** An error that this adapter threw may come back wrapped: by undici as the cause, by Node with those of other addresses. */
function ownFailure(error: unknown): OutgoingFetchError | undefined {
  if (error instanceof OutgoingFetchError) return error
  if (error instanceof AggregateError) return error.errors.find((one) => one instanceof OutgoingFetchError)
  return error instanceof Error && error.cause instanceof OutgoingFetchError ? error.cause : undefined
}
