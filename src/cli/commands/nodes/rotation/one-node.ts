import type { meshKeys } from '../../../../shared/contract/mesh-keys.ts'
import type { Result } from '../../../../shared/contract/operation-types.ts'
import { ProblemAnswer } from '../../../../client/failures.ts'
import { EXIT, type ExitCode } from '../../../errors/exit-code.ts'
import { shortDuration } from '../../../argv/duration.ts'
import type { View } from '../../../output/emit.ts'
import type { Session } from '../../../session/session.ts'
import { confirmOwnChange } from '../../../derive/own-change.ts'
import type { FleetNode } from '../fleet-node.ts'
import { counted } from '../../../output/counts.ts'
import { jittered, POLL_MS_MIN } from '../polling.ts'
import { aboutSeconds, estimateOf } from './estimate.ts'

type Handle = Result<(typeof meshKeys)['operations']['PostNodeKeysRotate']>

export interface OneRotation {
  readonly node: FleetNode
  readonly isWaiting: boolean
  readonly timeoutSeconds: number
}

const COLUMNS = ['state', 'requested_at', 'completed_at', 'requested_by', 'rotation_id', 'node_id']
const HANDLE_VIEW: View = { columns: COLUMNS, members: COLUMNS, isChecked: true }

/** Rotates the keys of one node and prints the handle: once it is completed, or at once. */
export async function rotateOne(session: Session, one: OneRotation): Promise<ExitCode> {
  const { node } = one
  await session.assertEmittable({ view: HANDLE_VIEW, isList: false })
  const { edges, waveSeconds } = await estimateOf(session, [node])
  const size = `${counted(edges, 'edge')}, ${aboutSeconds(waveSeconds)}`
  await confirmOwnChange(session, 'PostNodeKeysRotate', {
    question: `Rotate the keys of ${node.display_name} (${size})`,
  })
  const caller = await session.caller()
  session.expectOutput()
  const reply = await caller.call(session.operation('PostNodeKeysRotate'), { id: node.id })
  const requested = reply.value as Handle // What the contract says of 200 and 202.
  const handle = one.isWaiting ? await ended(session, requested, one) : requested
  await session.emit(handle, HANDLE_VIEW)
  session.note(sentence(handle, { ...one, edges, size, isInterrupted: session.io.interrupted.aborted }))
  if (handle.state === 'completed' || !one.isWaiting) return EXIT.ok
  return session.io.interrupted.aborted ? EXIT.interrupted : EXIT.negative
}

interface Ended extends OneRotation {
  readonly edges: number
  readonly size: string
  readonly isInterrupted: boolean
}

function sentence({ state }: Handle, { node, edges, size, isWaiting, timeoutSeconds, isInterrupted }: Ended): string {
  const name = node.display_name
  if (state === 'completed') return `Rotated the keys of ${name}: ${counted(edges, 'edge')}.`
  const watching = `Watch it with: ctl nodes rotate status ${name}`
  if (!isWaiting) return `Rotation pending for ${name} (${size}). ${watching}`
  const how = isInterrupted ? 'yet' : `within ${shortDuration(timeoutSeconds)}`
  return `${name} has not ended its rotation ${how}; it stays pending. ${watching}`
}

/** Waits for the rotation to be completed; the handle as it is then, or as it was when the time was over or Ctrl-C came. */
async function ended(session: Session, requested: Handle, { timeoutSeconds }: OneRotation): Promise<Handle> {
  const { io } = session
  const caller = await session.caller()
  const untilMs = io.nowMs() + timeoutSeconds * 1000
  let handle = requested
  try {
    while (handle.state !== 'completed' && io.nowMs() < untilMs && !io.interrupted.aborted) {
      await io.sleep(Math.min(jittered(POLL_MS_MIN), Math.max(1, untilMs - io.nowMs())))
      const { value } = await caller.call(session.operation('GetNodeKeysRotation'), { id: requested.node_id })
      handle = value as Handle // What the contract says of 200.
    }
  } catch (error) {
    if (!io.interrupted.aborted || error instanceof ProblemAnswer) throw error
  }
  return handle
}
