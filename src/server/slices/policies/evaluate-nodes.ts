import type { BoundSelector, Definition, LabelValue } from '../../../shared/selectors/bind-selector.ts'
import { matches } from '../../../shared/selectors/evaluate-selector.ts'
import type { Db } from '../../ports/datastore.ts'
import { readLabels, type MatchedNode, type StoredLabel } from './nodes-store.ts'

type Labels = ReadonlyMap<string, LabelValue>

/** Nodes whose effective labels are the same, as far as the selectors see them. */
interface LabelClass {
  readonly labels: Labels
  readonly nodeIds: string[]
}

/** Evaluates selectors over the effective labels of nodes. Each is evaluated once for nodes with the same labels. */
export interface NodeEvaluation {
  /** Ids of the nodes that it selects, in the order of the nodes. */
  selected(selector: BoundSelector): readonly string[]
}

/**
 * Reads the effective labels of nodes of a Domain: their own, else those of their Project, else those of the Domain, where
 * the Definition is inherited. `isAll`: the nodes are all of the Domain.
 */
export async function evaluateNodes(
  tx: Db,
  domainId: string,
  {
    nodes,
    selectors,
    isAll,
  }: {
    readonly nodes: readonly MatchedNode[]
    readonly selectors: Iterable<BoundSelector>
    readonly isAll: boolean
  },
): Promise<NodeEvaluation> {
  const definitions = definitionsOf(selectors)
  const labels = await readLabels(tx, domainId, {
    definitionIds: definitions.map(({ id }) => id),
    ...(!isAll && { nodeIds: nodes.map(({ id }) => id) }),
  })
  const classes = classesOf(nodes, effectiveLabels(labels, definitions))
  return { selected: (selector) => classes.flatMap((one) => (matches(selector, one.labels) ? one.nodeIds : [])) }
}

function definitionsOf(selectors: Iterable<BoundSelector>): readonly Definition[] {
  const found = new Map<string, Definition>()
  for (const { requirements } of selectors) {
    for (const { definition } of requirements) found.set(definition.id, definition)
  }
  return [...found.values()]
}

function effectiveLabels(
  stored: readonly StoredLabel[],
  definitions: readonly Definition[],
): (node: MatchedNode) => readonly (readonly [string, LabelValue])[] {
  const own = new Map<string, Map<string, LabelValue>>()
  const inherited = new Set(definitions.filter(({ inherit }) => inherit).map(({ id }) => id))
  let ofDomain = new Map<string, LabelValue>()
  for (const { kind, objectId, definitionId, value } of stored) {
    if (kind !== 'node' && !inherited.has(definitionId)) continue
    const labels = own.get(objectId) ?? new Map<string, LabelValue>()
    own.set(objectId, labels.set(definitionId, value))
    if (kind === 'domain') ofDomain = labels
  }
  const none: Labels = new Map()
  return ({ id, projectId }) => {
    const places = [own.get(id) ?? none, (projectId === null ? undefined : own.get(projectId)) ?? none, ofDomain]
    return definitions.flatMap((definition) => {
      const value = places.map((labels) => labels.get(definition.id)).find((found) => found !== undefined)
      return value === undefined ? [] : [[definition.id, value] as const]
    })
  }
}

function classesOf(
  nodes: readonly MatchedNode[],
  labelsOf: (node: MatchedNode) => readonly (readonly [string, LabelValue])[],
): readonly LabelClass[] {
  const classes = new Map<string, LabelClass>()
  for (const node of nodes) {
    const labels = labelsOf(node)
    const key = JSON.stringify(labels)
    const found = classes.get(key)
    if (found === undefined) classes.set(key, { labels: new Map(labels), nodeIds: [node.id] })
    else found.nodeIds.push(node.id)
  }
  return [...classes.values()]
}
