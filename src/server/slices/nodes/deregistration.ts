import type { nodes } from '../../../shared/contract/nodes.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { holdPeers, peersChangedWhole } from '../../sql/state-revisions.ts'
import { restAddress } from './address-store.ts'
import { announceDeregistered } from './announce.ts'
import { domainOfNode } from '../../sql/node-domain.ts'
import { removeNode } from './node-store.ts'

/** Serves the deregistration of nodes. */
export function createDeregistration(): Pick<Handlers<typeof nodes>, 'DeleteNode'> {
  return {
    async DeleteNode(ctx, { id }) {
      await ctx.change(async (change) => {
        const domainId = await deregister(change, id, ctx.nowMs)
        if (domainId === undefined) throw problem('node_not_found')
        ctx.about(`node:${id}`, domainId)
      })
    },
  }
}

/**
 * Removes a node from its Domain: its keys are invalid from the commit on, its address rests, its tuples and entries as a
 * host are deleted, its peers are informed, and a rotation that it was asked for is cancelled. Returns the Domain's id; undefined when another caller was first.
 */
export async function deregister(change: Change, nodeId: string, nowMs: number): Promise<string | undefined> {
  const domainId = await domainOfNode(change.db, nodeId)
  if (domainId === undefined) return undefined
  await holdPeers(change.db, domainId)
  const node = await removeNode(change.db, nodeId)
  if (node === undefined) return undefined
  await restAddress(change.db, node.domain_id, { address: node.mesh_address, atMs: nowMs })
  await peersChangedWhole(change.db, node.domain_id)
  await change.tuples.deleteObject(`node:${nodeId}`)
  change.credentialChanged('nsk', nodeId)
  announceDeregistered(change, { nodeId, domainId: node.domain_id }, node)
  return node.domain_id
}
