import { ProblemAnswer, TransportFailure } from '../../../client/failures.ts'
import { EXIT, exitCodeOf, type ExitCode } from '../../errors/exit-code.ts'
import { createProgress } from '../../output/progress.ts'
import type { Session } from '../../session/session.ts'
import type { FleetNode } from './fleet-node.ts'
import { inLanes, LANES } from './in-lanes.ts'

/** What became of a node that was to go. `kept`: it was not to go any more; `not_done`: Ctrl-C came first. */
export interface Deregistration {
  readonly node: FleetNode
  readonly outcome: 'deregistered' | 'kept' | 'failed' | 'not_done'
  /** Why it failed. */
  readonly code: string | undefined
  readonly exitCode: ExitCode
}

/** Deregisters nodes, some at once, past those that fail. One that is gone already counts as deregistered. */
export async function deregister(
  session: Session,
  nodes: readonly FleetNode[],
  isToGo: (node: FleetNode) => boolean,
): Promise<readonly Deregistration[]> {
  const signal = session.io.interrupted
  const done = new Map<FleetNode, Deregistration>()
  const progress = createProgress(session, 'nodes deregistered', nodes.length)
  await inLanes(nodes, { lanes: LANES, signal }, async (node) => {
    done.set(node, isToGo(node) ? await deregisterOne(session, node) : plain(node, 'kept'))
    progress.at(done.size)
  })
  progress.end()
  return nodes.map((node) => done.get(node) ?? plain(node, 'not_done'))
}

async function deregisterOne(session: Session, node: FleetNode): Promise<Deregistration> {
  try {
    await (await session.caller()).call(session.operation('DeleteNode'), { id: node.id })
  } catch (error) {
    if (session.io.interrupted.aborted) return plain(node, 'not_done')
    const failure = failureOf(error)
    if (failure.code !== 'node_not_found') return { node, outcome: 'failed', ...failure }
  }
  return plain(node, 'deregistered')
}

function plain(node: FleetNode, outcome: Exclude<Deregistration['outcome'], 'failed'>): Deregistration {
  return { node, outcome, code: undefined, exitCode: EXIT.ok }
}

function failureOf(error: unknown): Pick<Deregistration, 'code' | 'exitCode'> {
  if (error instanceof ProblemAnswer) return { code: error.code, exitCode: exitCodeOf(error.status) }
  if (error instanceof TransportFailure) return { code: error.fault, exitCode: EXIT.unavailable }
  throw error
}
