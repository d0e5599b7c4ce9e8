import type { CallInput, Reply } from '../../../client/client.ts'
import { ProblemAnswer } from '../../../client/failures.ts'
import { pages, type Page } from '../../../client/pages.ts'
import { createProgress } from '../../output/progress.ts'
import type { Session } from '../../session/session.ts'
import type { FleetNode } from './fleet-node.ts'
import { inLanes, LANES } from './in-lanes.ts'

const PAGE = '200'
/** So many nodes are read one by one; more are read by lists. */
const ONE_BY_ONE_MAX = 20

/** Nodes with the clock of the server that listed them. */
export interface NodesRead {
  readonly nodes: readonly FleetNode[]
  readonly serverNowMs: number
}

/** Reads a list of nodes to its end. */
export async function listNodes(session: Session, filter: CallInput): Promise<NodesRead> {
  const caller = await session.caller()
  const operation = session.operation('ListNodes')
  let serverNowMs = session.io.nowMs()
  const page = async (input: CallInput): Promise<Page<FleetNode>> => {
    const reply = await caller.call(operation, input)
    serverNowMs = serverClock(reply, session)
    return reply.value as Page<FleetNode> // What the contract says of 200.
  }
  const nodes: FleetNode[] = []
  const progress = createProgress(session, 'nodes read')
  try {
    for await (const { items } of pages(page, { ...filter, limit: PAGE })) {
      nodes.push(...items)
      progress.at(nodes.length)
    }
  } finally {
    progress.end()
  }
  return { nodes, serverNowMs }
}

/** Reads one node. Throws `ProblemAnswer`. */
export async function readNode(session: Session, id: string): Promise<FleetNode> {
  const { value } = await (await session.caller()).call(session.operation('GetNode'), { id })
  return value as FleetNode // A node's own page has every member of its list row.
}

/** The server's clock by the `Date` of its answer, to the second; this machine's where there is none. */
export function serverClock({ headers }: Pick<Reply, 'headers'>, { io }: Session): number {
  const ms = Date.parse(headers['date'] ?? '')
  return Number.isNaN(ms) ? io.nowMs() : ms
}

/** What nodes are like now, by id: one that is not there any more is undefined. */
export type NodesNow = ReadonlyMap<string, FleetNode | undefined>

/**
 * Looks at nodes again: a few one by one, many by the lists that show them. A node counts as gone when it is neither found
 * nor listed under its name, since the permission to read it goes with it.
 */
export async function lookAgain(
  session: Session,
  nodes: readonly FleetNode[],
  lists: readonly CallInput[],
): Promise<NodesNow> {
  const now = new Map<string, FleetNode | undefined>()
  if (nodes.length > ONE_BY_ONE_MAX) {
    const listed = new Map<string, FleetNode>()
    for (const list of lists) for (const node of (await listNodes(session, list)).nodes) listed.set(node.id, node)
    for (const { id } of nodes) now.set(id, listed.get(id))
    return now
  }
  await inLanes(nodes, { lanes: LANES }, async (node) => {
    now.set(node.id, await nodeNow(session, node))
  })
  return now
}

async function nodeNow(session: Session, { id, domain_id, display_name }: FleetNode): Promise<FleetNode | undefined> {
  try {
    return await readNode(session, id)
  } catch (error) {
    if (!(error instanceof ProblemAnswer) || (error.status !== 404 && error.status !== 403)) throw error
    const { nodes } = await listNodes(session, { domain_id, name: display_name })
    return nodes.find((node) => node.id === id)
  }
}
