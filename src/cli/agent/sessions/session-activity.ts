import type { AgentDeps } from '../../../client/agent/agent-deps.ts'
import type { SessionKind } from '../../../shared/events/wire-types.ts'
import type { RelayedBytes } from './relay.ts'

/** What a node reports of a session in use. */
export type Activity = Parameters<AgentDeps['client']['PostSessionActivity']>[0]['body']

/** A request of a cluster's API, as far as it can be seen. */
export interface SeenRequest {
  readonly verb: string
  readonly path: string
}

/** What happened since the last report. */
export interface Use {
  /** Some connection is open. */
  readonly isOpen: boolean
  /** Since the last report. */
  readonly bytes: RelayedBytes
  readonly request: SeenRequest
}

/** The request where none can be seen, since the connection is encrypted or no request was sent. */
export const UNSEEN: SeenRequest = { verb: 'connect', path: '/' }

/** The report of a session, in the form of its kind. */
export const ACTIVITY_OF: Readonly<Record<SessionKind, (use: Use) => Activity>> = {
  ssh: ({ isOpen }) => ({ ssh: { event: isOpen ? 'opened' : 'closed' } }),
  cluster_api: ({ request }) => ({ cluster_api: request }),
  tcp: ({ bytes }) => ({ tcp: { bytes_in: bytes.in, bytes_out: bytes.out } }),
}

const REQUEST_LINE = /^([A-Z]{1,32}) (\/[!-~]{0,8191}) HTTP\/1\.[01]\r\n/
const PATH_MAX = 2_048

/** The request that a connection begins with. The query is left out, since it may have secrets. */
export function requestIn(chunk: Buffer): SeenRequest {
  const [, method, url] = REQUEST_LINE.exec(chunk.subarray(0, 8_300).toString('latin1')) ?? []
  if (method === undefined || url === undefined) return UNSEEN
  return { verb: method.toLowerCase(), path: (url.split('?')[0] ?? '/').slice(0, PATH_MAX) }
}
