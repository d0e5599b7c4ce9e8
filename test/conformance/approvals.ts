import type { Backend } from '../../src/server/composition/backend.ts'
import { createApprovalQueue } from '../../src/server/slices/approvals/queue.ts'
import { addUser } from './signed-in.ts'

/** Adds a pending approval in the Domain. */
export async function addApproval(
  backend: Backend,
  domainId: string,
  requestedBy?: string,
): Promise<{ readonly id: string }> {
  const requester = requestedBy ?? `user:${await addUser(backend, domainId)}`
  return backend.unitOfWork.run({ pool: 'interactive', correlationId: 'arranged' }, (change) =>
    createApprovalQueue(backend).request(change, {
      kind: 'conformance',
      object: `thing:${backend.ids.next()}`,
      action: 'credentials.lend',
      operation: 'RequestThing',
      summary: 'Lend a thing',
      domainId,
      projectId: null,
      requestedBy: requester,
      decide: { relation: 'manage', object: `domain:${domainId}` },
      nowMs: backend.clock.now(),
    }),
  )
}
