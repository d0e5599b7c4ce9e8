import type { ManifestOperation } from '../shared/contract/manifest-format.ts'
import { TransportFailure } from './failures.ts'
import type { HttpAnswer } from './transport.ts'

type Head = Pick<HttpAnswer, 'status' | 'headers'>

/** Whether the operation declares the status. */
export function isAnswerOf({ responses }: ManifestOperation, { status }: Head): boolean {
  return responses.some((response) => response.status === status)
}

/**
 * Whether the answer names its API version, as every answer of this API does (S1 Versioning 5). A proxy may remove that
 * header.
 */
export function namesItself({ headers }: Head): boolean {
  return headers['x-service-api-version'] !== undefined
}

/**
 * Error statuses that a proxy in front of the server sends itself. Any other error status without a problem document comes
 * from another server.
 */
const PROXY_STATUSES = new Set([408, 413, 414, 429, 431, 500, 502, 503, 504])

/** Whether an error answer can come from a server of this API or from a proxy in front of it. */
export function mayRefuse(answer: Head, document: Readonly<Record<string, unknown>>): boolean {
  return typeof document['code'] === 'string' || namesItself(answer) || PROXY_STATUSES.has(answer.status)
}

/** The failure for an answer of another server. */
export function foreignServer(answer: Head): TransportFailure {
  return new TransportFailure('unreadable', isRedirect(answer) ? redirection(answer) : `it answered ${words(answer)}`)
}

/**
 * The failure for a success status that the operation does not declare: a newer server if it names its API version,
 * else another server.
 */
export function undeclaredStatus({ id }: ManifestOperation, answer: Head): TransportFailure {
  if (!namesItself(answer) || answer.status >= 300) return foreignServer(answer)
  return new TransportFailure(
    'unknown_status',
    `it answered ${id} with HTTP ${answer.status}, which this ctl does not know`,
  )
}

/** The failure for an answer of this API whose body does not have the shape that its operation declares. */
export function misshapenAnswer(operationId: string, fault: string): TransportFailure {
  return new TransportFailure('unreadable', `its answer to ${operationId} ${fault}`)
}

function isRedirect({ status, headers }: Head): boolean {
  return status >= 300 && status < 400 && headers['location'] !== undefined
}

function redirection({ status, headers }: Head): string {
  return `it redirects to ${headers['location'] ?? ''} (HTTP ${status})`
}

/** `HTTP 404 with text/html`. */
function words({ status, headers }: Head): string {
  const media = /^[^;\s]{1,100}/.exec(headers['content-type'] ?? '')?.[0]
  return media === undefined ? `HTTP ${status} without a media type` : `HTTP ${status} with ${media}`
}
