import type { BoundSelector, Definition, LabelValue } from '../../shared/selectors/bind-selector.ts'
import { matches } from '../../shared/selectors/evaluate-selector.ts'
import type { Db } from '../ports/datastore.ts'
import { readLabels, type MatchedNode, type StoredLabels } from './nodes-store.ts'

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
  const stored = await readLabels(tx, domainId, {
    definitionIds: definitions.map(({ id }) => id),
    ...(!isAll && { nodeIds: nodes.map(({ id }) => id) }),
  })
  const classes = classesOf(nodes, stored, definitions)
  return (text) => {
    const selector = bound.get(text)
    if (selector === undefined) throw new Error(`the selector ${text} is not bound`)
    return classes.flatMap((one) => (matches(selector, one.labels) ? one.nodeIds : []))
  }
}

function definitionsOf(selectors: Iterable<BoundSelector>): readonly Definition[] {
  const found = new Map<string, Definition>()
  for (const { requirements } of selectors) {
    for (const { definition } of requirements) found.set(definition.id, definition)
  }
  return [...found.values()]
}

/** Nodes of one Project whose own labels are the same are in one class. */
function classesOf(
  nodes: Evaluated['nodes'],
  stored: readonly StoredLabels[],
  definitions: readonly Definition[],
): readonly LabelClass[] {
  const textOf = new Map(stored.map(({ objectId, labels }) => [objectId, labels]))
  const ofDomain = stored.find(({ kind }) => kind === 'domain')?.labels
  const classes = new Map<string, LabelClass>()
  for (const { id, projectId } of nodes) {
    const own = textOf.get(id) ?? NO_LABELS
    const key = projectId === null ? own : projectId + own
    const known = classes.get(key)
    if (known !== undefined) known.nodeIds.push(id)
    else {
      const places = [ofDomain, projectId === null ? undefined : textOf.get(projectId)]
      classes.set(key, { labels: effectiveLabels(own, places, definitions), nodeIds: [id] })
    }
  }
  return [...classes.values()]
}

const NO_LABELS = '[]'

/** `places`: the labels of the Domain, then those of the Project, as texts. */
function effectiveLabels(
  own: string,
  places: readonly (string | undefined)[],
  definitions: readonly Definition[],
): Labels {
  const inherited = places.flatMap((text) => parseLabels(text ?? NO_LABELS, definitions))
  const mayInherit = inherited.filter(([{ inherit }]) => inherit)
  const all = [...mayInherit, ...parseLabels(own, definitions)]
  return new Map(all.map(([{ id }, value]) => [id, value]))
}

function parseLabels(text: string, definitions: readonly Definition[]): readonly (readonly [Definition, LabelValue])[] {
  // As `readLabels` wrote it.
  const labels = JSON.parse(text) as readonly (readonly [number, string, keyof typeof VALUES])[]
  return labels.flatMap(([place, value, type]) => {
    const definition = definitions[place - 1]
    return definition === undefined ? [] : [[definition, VALUES[type](value)] as const]
  })
}

const VALUES = {
  string: (text: string): LabelValue => text,
  integer: (text: string): LabelValue => Number(text),
  boolean: (text: string): LabelValue => text === 'true',
} as const
