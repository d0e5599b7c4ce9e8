import { createHash } from 'node:crypto'
import type { Wave } from './tables.ts'

/** A node that a rollout selects. */
export interface SelectedNode {
  readonly id: string
  readonly name: string
}

/** Its turn: the wave, and the place in the whole rollout, from 0. */
export interface Turn extends SelectedNode {
  readonly wave: number
  readonly place: number
}

/** How nodes are divided. */
export interface Division {
  readonly rolloutId: string
  readonly canaries: number
  readonly waves: readonly Wave[]
  /** Ids of the nodes whose label `update-group` has the value. */
  readonly groupOf: (value: string) => ReadonlySet<string>
}

/**
 * Divides nodes into the canaries, which are wave 0, and the waves of a plan, which are numbered from 1. Each rollout has an order of
 * its own, so that the same nodes are not always the first. A wave by percent takes nodes until so many of all have a wave, rounded
 * up; a wave by group takes those of the group that have none yet. Nodes that no wave takes are left out.
 */
export function divide(nodes: readonly SelectedNode[], { rolloutId, canaries, waves, groupOf }: Division): Turn[] {
  let left = inOrder(rolloutId, nodes)
  const taken: { node: SelectedNode; wave: number }[] = []
  const take = (wave: number, members: readonly SelectedNode[]) => {
    const isTaken = new Set(members)
    left = left.filter((node) => !isTaken.has(node))
    for (const node of members) taken.push({ node, wave })
  }
  take(0, left.slice(0, canaries))
  for (const [index, { percent, update_group: group }] of waves.entries()) {
    if (percent !== undefined) take(index + 1, left.slice(0, Math.max(0, shareOf(nodes, percent) - taken.length)))
    if (group !== undefined) {
      const members = groupOf(group)
      take(
        index + 1,
        left.filter(({ id }) => members.has(id)),
      )
    }
  }
  return taken.map(({ node, wave }, place) => ({ id: node.id, name: node.name, wave, place }))
}

/** So many nodes are that share of all, rounded up. In integers: 7 percent of 100 is 7, and not 7.000000000000001. */
function shareOf({ length }: readonly unknown[], percent: number): number {
  return Math.ceil((length * percent) / 100)
}

function inOrder(rolloutId: string, nodes: readonly SelectedNode[]): readonly SelectedNode[] {
  const keyed = nodes.map((node) => ({ node, key: orderKey(rolloutId, node.id) }))
  return keyed.toSorted((one, other) => (one.key < other.key ? -1 : 1)).map(({ node }) => node)
}

/** By which nodes are ordered within a rollout. */
function orderKey(rolloutId: string, nodeId: string): string {
  return createHash('sha256').update(`${rolloutId} ${nodeId}`).digest('hex')
}
