import type { Change } from '../../ports/unit-of-work.ts'
import { idleTimeoutOf } from './session.ts'
import type { SessionRecord } from './store.ts'

/** Sends the new session to the node, with the members of the pull's block (S0 NodeStateSnapshot); never with the token. */
export function announceIssued(change: Change, session: SessionRecord): void {
  const { id, node_id, domain_id: domainId, kind, target, expires_at } = session
  const payload = {
    node_id,
    session_id: id,
    jti: id,
    kind,
    target,
    expires_at: expires_at.toISOString(),
    ...idleTimeoutOf(session),
  }
  change.emit({ event: 'session_issued', domainId, aggregate: `node:${node_id}`, payload })
}

/** Sends the early end of a session to the node. */
export function announceRevoked(
  change: Change,
  { id, node_id, domain_id: domainId }: Pick<SessionRecord, 'id' | 'node_id' | 'domain_id'>,
): void {
  const payload = { node_id, session_id: id }
  change.emit({ event: 'session_revoked', domainId, aggregate: `node:${node_id}`, payload })
}
