/** A problem document (RFC 9457) from the server. The code may be unknown to this client (S1 Versioning 2). */
export class ProblemAnswer extends Error {
  readonly code: string
  readonly status: number
  readonly title: string
  /** The `detail` of the document; equals `message`. */
  readonly detail: string
  readonly correlationId: string | undefined
  /**
   * The whole document, including members that only some problems have, such as `missing_relation`, `counts` and
   * `errors`.
   */
  readonly document: Readonly<Record<string, unknown>>
  /** Seconds to wait before the next try, from `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /** Id of the refused operation; undefined for a request of no operation. */
  readonly operationId: string | undefined

  constructor(document: ProblemDocument, retryAfterSeconds?: number, operationId?: string) {
    super(document.detail)
    this.name = 'ProblemAnswer'
    this.code = document.code
    this.status = document.status
    this.title = document.title
    this.detail = document.detail
    this.correlationId = document.correlation_id
    this.document = document
    this.retryAfterSeconds = retryAfterSeconds
    this.operationId = operationId
  }
}

/** A problem document. The client adds these members if the answer lacks them. */
export interface ProblemDocument {
  readonly code: string
  readonly status: number
  readonly title: string
  readonly detail: string
  readonly correlation_id?: string | undefined
  readonly [member: string]: unknown
}

/**
 * Why no answer could be used.
 * `unreachable`: no connection; `broken`: the connection ended before the answer was complete; `timeout`: the deadline
 * passed; `aborted`: the caller cancelled; `untrusted`: the certificate is not trusted; `unreadable`: the answer does not come
 * from this API; `unknown_status`: the operation succeeded with a status that this client does not know; `too_large`: the
 * answer exceeds the maximum size.
 */
export type TransportFault =
  | 'unreachable'
  | 'broken'
  | 'timeout'
  | 'aborted'
  | 'untrusted'
  | 'unreadable'
  | 'unknown_status'
  | 'too_large'

/**
 * A call without a usable answer. With `unreachable` and `untrusted` the server did not process it; otherwise this is
 * unknown.
 */
export class TransportFailure extends Error {
  readonly fault: TransportFault

  constructor(fault: TransportFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'TransportFailure'
    this.fault = fault
  }
}
