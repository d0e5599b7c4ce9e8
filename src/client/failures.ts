/** A refusal that the server put into words: a problem document (RFC 9457), whether or not its code is known here (S1 Versioning 2). */
export class ProblemAnswer extends Error {
  readonly code: string
  readonly status: number
  readonly title: string
  /** The fixed sentence of the document; equals `message`. */
  readonly detail: string
  readonly correlationId: string | undefined
  /** The whole document, with the members that only some problems carry: `missing_relation`, `counts`, `errors`. */
  readonly document: Readonly<Record<string, unknown>>
  /** Seconds that the server asks to wait before the next try. */
  readonly retryAfterSeconds: number | undefined
  /** The operation that was refused; undefined for a request that is not of one. */
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

/** The members that the client fills in when an answer lacks them. */
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
 * `unreachable`: no connection; `broken`: it ended before the answer did; `timeout`: the deadline passed;
 * `aborted`: the caller gave up; `untrusted`: the certificate is not one that is trusted here;
 * `unreadable`: an answer arrived that is not of this API; `unknown_status`: the operation succeeded with a status that this
 * client does not know; `too_large`: the answer is over the bound.
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

/** A call that got no usable answer. Whether the server acted on it is known only for `unreachable` and `untrusted`: it did not. */
export class TransportFailure extends Error {
  readonly fault: TransportFault

  constructor(fault: TransportFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'TransportFailure'
    this.fault = fault
  }
}
