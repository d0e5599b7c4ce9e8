import { ProblemAnswer } from '../../../../client/failures.ts'
import type { Session } from '../../../session/session.ts'
import { readCloud, type Bundle } from '../reading.ts'
import type { Move } from './plan.ts'

/**
 * What became of a Cloud of the plan. `moved_meanwhile`: somebody else changed its bundle or version, and it was left alone;
 * `not_done`: the run stopped before; `unknown`: it was asked to move, and no answer came.
 */
export type Outcome = 'promoted' | 'moved_meanwhile' | 'failed' | 'not_done' | 'unknown'

export interface Promotion {
  readonly move: Move
  readonly outcome: Outcome
  /** The problem code of a refusal. */
  readonly code: string | undefined
  /** A failure that the next Cloud would have as well: the run stops, and it is thrown after the report. */
  readonly error: unknown
}

/** Moves one Cloud if it still is what the plan says. Refusals are outcomes. */
export async function promoteOne(session: Session, bundle: Bundle, move: Move): Promise<Promotion> {
  let isAsked = false
  try {
    const cloud = await readCloud(session, move.cloud_id)
    if (cloud.provider_bundle_id !== bundle.id || cloud.provider_bundle_version !== move.from)
      return ended(move, 'moved_meanwhile')
    isAsked = true
    await patch(session, move)
    return ended(move, 'promoted')
  } catch (error) {
    return failed(session, { move, isAsked, error })
  }
}

/** Ctrl-C ends the run after this call, not in the middle of it: what it did would not be known. */
async function patch(session: Session, { cloud_id: id, to }: Move): Promise<void> {
  const { signal } = new AbortController()
  const body = { provider_bundle_version: to }
  await (await session.caller()).call(session.operation('PatchCloud'), { id, body }, { signal })
}

interface Failed {
  readonly move: Move
  readonly isAsked: boolean
  readonly error: unknown
}

function failed(session: Session, { move, isAsked, error }: Failed): Promotion {
  if (!(error instanceof ProblemAnswer)) {
    if (!isAsked && session.io.interrupted.aborted) return ended(move, 'not_done')
    return { move, outcome: isAsked ? 'unknown' : 'not_done', code: undefined, error }
  }
  const { code } = error
  if (code === 'provider_bundle_reference_moved') return { ...ended(move, 'moved_meanwhile'), code }
  return { move, outcome: 'failed', code, error: isOfAll(error) ? error : undefined }
}

/** Whether every Cloud would be refused so: signed out, limited, or a fault of the server. */
function isOfAll({ status }: ProblemAnswer): boolean {
  return status === 401 || status === 429 || status >= 500
}

/** A Cloud whose outcome is no failure. */
export function ended(move: Move, outcome: Outcome): Promotion {
  return { move, outcome, code: undefined, error: undefined }
}
