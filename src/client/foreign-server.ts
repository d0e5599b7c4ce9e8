import type { ManifestOperation } from '../shared/contract/manifest-format.ts'
import { TransportFailure } from './failures.ts'
import type { HttpAnswer } from './transport.ts'

type Head = Pick<HttpAnswer, 'status' | 'headers'>

/** Whether the status is one that the operation answers with. */
export function isAnswerOf({ responses }: ManifestOperation, { status }: Head): boolean {
  return responses.some((response) => response.status === status)
}

/** Whether the answer names its API versions, as every answer of this API does (S1 Versioning 5). A proxy may take that away. */
export function namesItself({ headers }: Head): boolean {
  return headers['x-service-api-version'] !== undefined
}

/**
 * Statuses that a proxy in front of a server answers with by itself. Any other status of 400 or more without a problem
 * document is that of another server.
 */
const ALSO_OF_PROXIES = new Set([408, 413, 414, 429, 431, 500, 502, 503, 504])

/** Whether an answer of 400 or more can come from a server of this API or from a proxy in front of one. */
export function mayRefuse(answer: Head, document: Readonly<Record<string, unknown>>): boolean {
  return typeof document['code'] === 'string' || namesItself(answer) || ALSO_OF_PROXIES.has(answer.status)
}

/** The failure for an answer that is not of this API. */
export function foreignServer(answer: Head): TransportFailure {
  return new TransportFailure('unreadable', isRedirect(answer) ? redirection(answer) : `it answered ${words(answer)}`)
}

/** The failure for a success that the operation does not declare: of a newer server where it names itself, else of another one. */
export function undeclaredStatus({ id }: ManifestOperation, answer: Head): TransportFailure {
  if (!namesItself(answer) || answer.status >= 300) return foreignServer(answer)
  return new TransportFailure(
    'unknown_status',
    `it answered ${id} with HTTP ${answer.status}, which this ctl does not know`,
  )
}

/** The failure for an answer that looks like one of this API until it is compared with its operation. */
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
