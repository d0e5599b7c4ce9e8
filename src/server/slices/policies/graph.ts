import type { policies } from '../../../shared/contract/policies.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { PORT_MAX, type PortRange } from '../../../shared/policies/rule-types.ts'
import { passingRanges } from '../../../shared/policies/verdict.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { classifyNodes, policiesAt, type NodeClass } from './node-classes.ts'
import { readNodeParties, readPoliciesInForce, type PolicyInForce } from './parties-store.ts'
import { createPauses } from './pause-work.ts'

type Graph = Result<(typeof policies)['operations']['GetPolicyGraph']>

/** Groups that are shown: all pairs of them are compared. */
const GROUPS_MAX = 64
const SAMPLE_MAX = 20

/** Serves the picture of who reaches whom, by groups of nodes that no verdict tells apart. */
export function createGraph({
  datastore,
}: {
  readonly datastore: Datastore
}): Pick<Handlers<typeof policies>, 'GetPolicyGraph'> {
  return {
    async GetPolicyGraph(_ctx, { id: domainId }) {
      const db = datastore.pool('interactive')
      const inForce = await readPoliciesInForce(db, domainId)
      const nodes = await readNodeParties(db, domainId, { policyIds: inForce.map(({ id }) => id) })
      const classes = classifyNodes(nodes, inForce).classes.toSorted(bySize)
      const shown = classes.slice(0, GROUPS_MAX)
      return {
        groups: shown.map((one, group) => groupOf(one, group, inForce)),
        edges: await edgesOf(shown),
        omitted_groups: classes.length - shown.length,
      }
    },
  }
}

function bySize(one: NodeClass, other: NodeClass): number {
  return other.nodes.length - one.nodes.length || one.index - other.index
}

function groupOf({ nodes }: NodeClass, group: number, inForce: readonly PolicyInForce[]): Graph['groups'][number] {
  const matching = policiesAt(nodes[0]?.policies ?? '')
  return {
    group,
    policies: matching.flatMap((index) => inForce[index]?.slug ?? []).toSorted(),
    node_count: nodes.length,
    sample: nodes.slice(0, SAMPLE_MAX).map(({ id, name }) => ({ node_id: id, name })),
  }
}

async function edgesOf(classes: readonly NodeClass[]): Promise<Graph['edges']> {
  const edges: Graph['edges'] = []
  const pause = createPauses()
  for (const [from, sender] of classes.entries()) {
    for (const [to, receiver] of classes.entries()) {
      // A node alone in its group sends nothing to itself.
      const flows = from === to && sender.nodes.length < 2 ? [] : flowsOf(sender, receiver)
      if (flows.length > 0) edges.push({ from, to, flows })
    }
    await pause()
  }
  return edges
}

function flowsOf({ party: from }: NodeClass, { party: to }: NodeClass): string[] {
  const icmp = passingRanges(from, to, 'icmp').length > 0
  const ported = (['tcp', 'udp'] as const).map((protocol) => ({ protocol, ranges: passingRanges(from, to, protocol) }))
  if (icmp && ported.every(({ ranges }) => isWhole(ranges))) return ['any']
  const named = ported.filter(({ ranges }) => ranges.length > 0)
  return [
    ...(icmp ? ['icmp'] : []),
    ...named.map(({ protocol, ranges }) =>
      isWhole(ranges) ? protocol : `${protocol} ${ranges.map(rangeText).join(',')}`,
    ),
  ]
}

function isWhole([range]: readonly PortRange[]): boolean {
  return range !== undefined && range[0] <= 1 && range[1] === PORT_MAX
}

function rangeText([first, last]: PortRange): string {
  return first === last ? String(first) : `${first}-${last}`
}
