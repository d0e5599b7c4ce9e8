import type { Candidate } from '../../bridges/bridge-parts.ts'
import type { BridgeWorld } from '../../bridges/bridge-world.ts'
import { findBridge, lockBridge, type Bridge } from '../../bridges/find-bridge.ts'
import { readWorld } from '../../bridges/read-world.ts'
import { assertNone } from '../../bridges/refusal.ts'
import { announceBridge, readHosts, storeConfig, type BridgeLiteral } from '../../bridges/update-config.ts'
import { conflictsOf } from '../../bridges/validate.ts'
import type { PartName } from '../../bridges/bridge-parts.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { problem } from '../../../shared/problems.ts'
import { holdNodes } from '../../sql/hold-node.ts'

/** The members of a path that names a bridge. */
export interface BridgePath {
  readonly project_id: string
  readonly resource_id: string
}

/** Reads the bridge of the path, and has the audit row name it. @throws Problem `resource_not_found`, `resource_not_bridge`. */
export async function bridgeOf(ctx: RequestContext, db: Db, path: BridgePath): Promise<Bridge> {
  const bridge = await findBridge(db, { projectId: path.project_id, resourceId: path.resource_id })
  ctx.about(`resource:${bridge.resourceId}`, bridge.domainId)
  return bridge
}

/** A part that a caller wants to write. */
export interface Intent {
  readonly candidate: Candidate
  /** The part with what it keeps of the stored one; the candidate itself where absent. */
  readonly completed?: (world: BridgeWorld) => Candidate
  /** Throws where the part may not be written for what the bridge has or lacks, before the rules between parts are asked. */
  readonly assertFits?: (world: BridgeWorld) => void
  /** Asks what the datastore cannot answer. */
  readonly inspect?: (bridge: Bridge) => Promise<void>
}

/** A bridge that the transaction holds, and that admits the change. */
export interface Held {
  readonly change: Change
  readonly bridge: Bridge
  readonly at: Date
}

/** The request that changes a bridge. */
interface Request {
  readonly ctx: RequestContext
  readonly path: BridgePath
  readonly datastore: Datastore
}

/**
 * Changes a bridge in a way that breaks no rule between its parts: runs `work` with the bridge locked.
 * @throws Problem `resource_not_found`, `resource_not_bridge`.
 */
export async function changeBridge<Answer>(
  { ctx, path, datastore }: Request,
  work: (held: Held) => Promise<Answer>,
): Promise<Answer> {
  const bridge = await bridgeOf(ctx, datastore.pool('interactive'), path)
  return ctx.change(async (change) => {
    if (!(await lockBridge(change.db, bridge.resourceId))) throw problem('resource_not_found')
    return work({ change, bridge, at: new Date(ctx.nowMs) })
  })
}

/**
 * Writes a part of a bridge: validates it before the transaction (S1 Bridge orchestrator), and again in it, with the bridge
 * locked. Runs `work` with what it holds and what it has read then.
 * @throws Problem of the first rule that the part breaks; nothing was written then.
 */
export async function writePart<Answer>(
  { ctx, path, datastore }: Request,
  intent: Intent,
  work: (held: Held, world: BridgeWorld) => Promise<Answer>,
): Promise<Answer> {
  const db = datastore.pool('interactive')
  const bridge = await bridgeOf(ctx, db, path)
  await admit(db, bridge, intent)
  await intent.inspect?.(bridge)
  return ctx.change(async (change) => {
    await hold(change.db, bridge, intent.candidate)
    const world = await admit(change.db, bridge, intent)
    return work({ change, bridge, at: new Date(ctx.nowMs) }, world)
  })
}

/** Stores and announces what the hosts are to run, after the rows of the bridge changed. @throws Problem `bridge_limit_exceeded`. */
export async function publish(
  { change, bridge, at }: Held,
  announcement: { readonly literal: BridgeLiteral; readonly part: PartName },
): Promise<void> {
  await storeConfig(change, bridge, at)
  announceBridge(change, bridge, announcement)
}

/**
 * Locks the bridge, and keeps its hosts and a wanted target from being deregistered, so that the stored configuration is true
 * when it is committed.
 */
async function hold(db: Db, { resourceId }: Bridge, candidate: Candidate): Promise<void> {
  if (!(await lockBridge(db, resourceId))) throw problem('resource_not_found')
  if (candidate.part !== 'ingress') return
  await holdNodes(db, [...(await readHosts(db, resourceId)), candidate.value.target_node_id])
}

async function admit(db: Db, bridge: Bridge, { candidate, completed, assertFits }: Intent): Promise<BridgeWorld> {
  const world = await readWorld(db, bridge, [candidate])
  assertFits?.(world)
  assertNone(conflictsOf(world, completed?.(world) ?? candidate))
  return world
}
