import { ProblemAnswer } from '../../../../client/failures.ts'
import type { Session } from '../../../session/session.ts'
import { inLanes, LANES } from '../in-lanes.ts'

/** Told of each node as it comes to it. */
export interface TriggerListener {
  /** The server is being asked. */
  begun(id: string): void
  /** It refused, for this node alone. */
  refused(id: string, code: string): void
}

/**
 * Asks nodes to rotate their keys, some at once. Throws where the server could not be asked or failed; others may have been
 * triggered by then, and triggering them again is no second rotation.
 */
export async function triggerRotations(
  session: Session,
  ids: readonly string[],
  listener: TriggerListener,
): Promise<void> {
  const caller = await session.caller()
  const operation = session.operation('PostNodeKeysRotate')
  await inLanes(ids, { lanes: LANES, signal: session.io.interrupted }, async (id) => {
    listener.begun(id)
    try {
      await caller.call(operation, { id })
    } catch (error) {
      if (!(error instanceof ProblemAnswer) || !isRefusal(error)) throw error
      listener.refused(id, error.code)
    }
  })
}

/** A refusal of this node; others say that nobody is served right now. */
function isRefusal({ status }: ProblemAnswer): boolean {
  return status === 403 || status === 404 || status === 409
}
