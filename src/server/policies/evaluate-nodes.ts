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
interface Asked {
  readonly nodes: readonly Pick<MatchedNode, 'id' | 'projectId'>[]
  readonly bound: ReadonlyMap<string, BoundSelector>
}

export interface Evaluated extends Asked {
  /** The nodes are all of the Domain. */
  readonly isAll: boolean
}

/** Labels of nodes, and of what they inherit from, of some Definitions: by the place of the Definition. */
export interface LabelsOfNodes {
  readonly definitionIds: readonly string[]
  readonly stored: readonly StoredLabels[]
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
  const definitionIds = [...definitionsOf(bound.values()).keys()]
  const nodeIds = isAll ? undefined : nodes.map(({ id }) => id)
  const stored = await readLabels(tx, domainId, { definitionIds, ...(nodeIds !== undefined && { nodeIds }) })
  return evaluateLabels({ nodes, bound }, { definitionIds, stored })
}

/** Reads what `evaluateLabels` needs of all nodes of a Domain for any of the selectors. */
export async function readLabelsOfAll(
  tx: Db,
  domainId: string,
  selectors: Iterable<BoundSelector>,
): Promise<LabelsOfNodes> {
  const definitionIds = [...definitionsOf(selectors).keys()]
  return { definitionIds, stored: await readLabels(tx, domainId, { definitionIds }) }
}

/** As `evaluateNodes`, with labels that were read before, of all Definitions that the selectors name and perhaps of others. */
export function evaluateLabels({ nodes, bound }: Asked, { definitionIds, stored }: LabelsOfNodes): SelectNodes {
  const named = definitionsOf(bound.values())
  const definitions = definitionIds.map((id) => named.get(id))
  const classes = classesOf(nodes, definitions.includes(undefined) ? onlyOf(stored, definitions) : stored, definitions)
  return (text) => {
    const selector = bound.get(text)
    if (selector === undefined) throw new Error(`the selector ${text} is not bound`)
    return classes.flatMap((one) => (matches(selector, one.labels) ? one.nodeIds : []))
  }
}

/** The Definitions by the place that labels have of them; undefined where no selector names the Definition. */
type Places = readonly (Definition | undefined)[]

/** The labels without those of Definitions that no selector names: nodes that differ in those alone are in one class. */
function onlyOf(stored: readonly StoredLabels[], definitions: Places): readonly StoredLabels[] {
  const known = new Map<string, string>()
  const reduce = (text: string) => {
    const labels = parsePlaces(text).filter(([place]) => definitions[place - 1] !== undefined)
    const reduced = JSON.stringify(labels)
    known.set(text, reduced)
    return reduced
  }
  return stored.map((one) => ({ ...one, labels: known.get(one.labels) ?? reduce(one.labels) }))
}

function definitionsOf(selectors: Iterable<BoundSelector>): ReadonlyMap<string, Definition> {
  const found = new Map<string, Definition>()
  for (const { requirements } of selectors) {
    for (const { definition } of requirements) found.set(definition.id, definition)
  }
  return found
}

/** Nodes of one Project whose own labels are the same are in one class. */
function classesOf(nodes: Asked['nodes'], stored: readonly StoredLabels[], definitions: Places): readonly LabelClass[] {
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
function effectiveLabels(own: string, places: readonly (string | undefined)[], definitions: Places): Labels {
  const inherited = places.flatMap((text) => parseLabels(text ?? NO_LABELS, definitions))
  const mayInherit = inherited.filter(([{ inherit }]) => inherit)
  const all = [...mayInherit, ...parseLabels(own, definitions)]
  return new Map(all.map(([{ id }, value]) => [id, value]))
}

/** The labels as `readLabels` wrote them. */
function parsePlaces(text: string) {
  return JSON.parse(text) as readonly (readonly [place: number, value: string, type: keyof typeof VALUES])[]
}

function parseLabels(text: string, definitions: Places): readonly (readonly [Definition, LabelValue])[] {
  return parsePlaces(text).flatMap(([place, value, type]) => {
    const definition = definitions[place - 1]
    return definition === undefined ? [] : [[definition, VALUES[type](value)] as const]
  })
}

const VALUES = {
  string: (text: string): LabelValue => text,
  integer: (text: string): LabelValue => Number(text),
  boolean: (text: string): LabelValue => text === 'true',
} as const
