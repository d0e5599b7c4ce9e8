import type { policies } from '../../../shared/contract/policies.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { PORT_MAX, type PortRange } from '../../../shared/policies/rule-types.ts'
import { passingFlows } from '../../../shared/policies/verdict.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import { knowsDefinition } from '../../labels/known-definitions.ts'
import { resolveSelector } from '../../labels/resolve-selector.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import { evaluateNodes } from '../../policies/evaluate-nodes.ts'
import { classifyNodes, policiesAt, type NodeClass } from './node-classes.ts'
import { readNodeParties, readPoliciesInForce, type NodeParty, type PolicyInForce } from './parties-store.ts'
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
    async GetPolicyGraph(ctx, { id: domainId, selector }) {
      const db = datastore.pool('interactive')
      const select = await selectionOf(ctx, db, { domainId, selector })
      const inForce = await readPoliciesInForce(db, domainId)
      const nodes = await select(await readNodeParties(db, domainId, { policyIds: inForce.map(({ id }) => id) }))
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

/** Gives those of the nodes of a Domain that the graph is about. */
type Selection = (nodes: readonly NodeParty[]) => Promise<readonly NodeParty[]>

/** Reads the selector of a request, in the scope of its Domain. @throws Problem `invalid_selector` */
async function selectionOf(
  ctx: RequestContext,
  db: Db,
  { domainId, selector }: { readonly domainId: string; readonly selector?: string | undefined },
): Promise<Selection> {
  if (selector === undefined) return async (nodes) => nodes
  const { bound, canonical, errors } = await resolveSelector(db, selector, { domainId, knows: knowsDefinition(ctx) })
  if (bound === undefined) throw problem('invalid_selector', { errors })
  return async (nodes) => {
    const select = await evaluateNodes(db, domainId, { nodes, bound: new Map([[canonical, bound]]), isAll: true })
    const selected = new Set(select(canonical))
    return nodes.filter(({ id }) => selected.has(id))
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
  const passing = passingFlows(from, to)
  const icmp = passing.icmp.length > 0
  const ported = (['tcp', 'udp'] as const).map((protocol) => ({ protocol, ranges: passing[protocol] }))
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
