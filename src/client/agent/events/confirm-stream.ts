import type { Frame } from '../../event-stream.ts'
import { ProblemAnswer, TransportFailure } from '../../failures.ts'
import { readStreamHead } from '../../stream-head.ts'
import type { EventOrder } from '../../../shared/events/order.ts'
import type { AgentDeps } from '../agent-deps.ts'
import type { KeyedMember } from '../member.ts'
import type { NodeStreams } from './node-streams.ts'

export interface ConfirmDeps extends Pick<AgentDeps, 'clock' | 'statistics'> {
  readonly streams: Pick<NodeStreams, 'connect' | 'verify'>
}

/** The stream to compare, and how long to wait for its missing events. */
export interface Compared {
  readonly order: Pick<EventOrder, 'last'>
  readonly until: AbortSignal
}

const LOOK_EVERY_MS = 50
/** Long, because thousands of agents read the head at the same time on one thread. */
const HEAD_MS_MAX = 30_000

/**
 * Counts the events that the server has and the stream of the node did not deliver. Waits for missing ones until the signal is aborted.
 * A revoked node is not compared.
 */
export async function confirmStream(deps: ConfirmDeps, node: KeyedMember, { order, until }: Compared): Promise<void> {
  const { clock, statistics } = deps
  if (node.isRevoked) return
  const head = await headOf(deps, node, until)
  if (head === undefined) return statistics.count('unconfirmed_streams')
  while ((order.last() ?? 0) < head && !until.aborted) await clock.pause(LOOK_EVERY_MS, until)
  return statistics.count('missed_events', Math.max(0, head - (order.last() ?? 0)))
}

/** The number of the node's last event on the server, from a signed resync; undefined if it cannot be read. */
async function headOf(
  { statistics, streams }: ConfirmDeps,
  node: KeyedMember,
  until: AbortSignal,
): Promise<number | undefined> {
  let frame: Frame | undefined
  try {
    frame = await readStreamHead({ connect: streams.connect(node), signal: until, waitMsMax: HEAD_MS_MAX })
  } catch (error) {
    statistics.failed('stream', streamFailureCode(error))
  }
  if (frame === undefined) return undefined
  const verification = await streams.verify(frame.data, { nodeId: node.identity.node_id })
  if (verification.ok) return verification.envelope.node_seq
  statistics.count('bad_signatures')
  return undefined
}

/** The code of a refusal, or the transport fault. @throws any other error: a bug. */
export function streamFailureCode(error: unknown): string {
  if (error instanceof ProblemAnswer) return error.code
  if (error instanceof TransportFailure) return error.fault
  throw error
}
