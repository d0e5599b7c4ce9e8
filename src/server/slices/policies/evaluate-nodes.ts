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

/** Gives the ids of the nodes that a selector selects, by its canonical text. */
export type SelectNodes = (text: string) => readonly string[]

/** Nodes of a Domain, and the selectors that they are asked for, by their canonical texts. */
export interface Evaluated {
  readonly nodes: readonly Pick<MatchedNode, 'id' | 'projectId'>[]
  readonly bound: ReadonlyMap<string, BoundSelector>
  /** The nodes are all of the Domain. */
  readonly isAll: boolean
}

/**
 * Reads the effective labels of nodes: their own, else those of their Project, else those of the Domain, where the Definition
 * is inherited. Each selector is evaluated once for nodes with the same labels. Asked for another selector, the result throws.
 */
export async function evaluateNodes(
  tx: Db,
  domainId: string,
  { nodes, bound, isAll }: Evaluated,
): Promise<SelectNodes> {
  const definitions = definitionsOf(bound.values())
  const labels = await readLabels(tx, domainId, {
    definitionIds: definitions.map(({ id }) => id),
    ...(!isAll && { nodeIds: nodes.map(({ id }) => id) }),
  })
  const classes = classesOf(nodes, effectiveLabels(labels, definitions))
  return (text) => {
    const selector = bound.get(text)
    if (selector === undefined) throw new Error(`the selector ${text} is not bound`)
    return classes.flatMap((one) => (matches(selector, one.labels) ? one.nodeIds : []))
  }
}

type LabelledNode = Evaluated['nodes'][number]

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
): (node: LabelledNode) => readonly (readonly [string, LabelValue])[] {
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
  nodes: readonly LabelledNode[],
  labelsOf: (node: LabelledNode) => readonly (readonly [string, LabelValue])[],
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
