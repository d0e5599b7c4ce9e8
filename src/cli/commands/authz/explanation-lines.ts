import type { Explanation, Outcome } from './explanation.ts'
import type { Io } from '../../output/io.ts'
import { isUtf8 } from '../../output/locale.ts'
import { harmless, type Style } from '../../output/style.ts'
import type { Naming } from './naming.ts'

/** How a tree is drawn. */
export interface Drawing {
  readonly naming: Naming
  readonly style: Style
  readonly strokes: Strokes
}

type Mark = Outcome | 'hidden'

/** The strokes of a tree: marks by outcome, and the strokes before a branch, before the last one, and below each. */
export interface Strokes {
  readonly marks: Readonly<Record<Mark, string>>
  readonly branch: string
  readonly last: string
  readonly below: string
  readonly belowLast: string
}

const LINES: Strokes = {
  marks: { granted: '✓', denied: '✗', conditional: '?', hidden: '·' },
  branch: '├─ ',
  last: '└─ ',
  below: '│  ',
  belowLast: '   ',
}
const ASCII: Strokes = {
  marks: { granted: '+', denied: 'x', conditional: '?', hidden: '.' },
  branch: '|- ',
  last: '`- ',
  below: '|  ',
  belowLast: '   ',
}
const PLAIN: Strokes = {
  marks: { granted: 'granted', denied: 'denied', conditional: 'conditional', hidden: 'hidden' },
  branch: '  ',
  last: '  ',
  below: '  ',
  belowLast: '  ',
}

/** Lines on a terminal, in ASCII where its locale has nothing else; words and spaces for a program. */
export function strokesFor({ stdout, env }: Io): Strokes {
  if (!stdout.isTty) return PLAIN
  return isUtf8(env) ? LINES : ASCII
}

/** The tree of a check, one line a branch: what was asked of which object, and how it came out. */
export function explanationLines(tree: Explanation, drawing: Drawing): readonly string[] {
  return branchLines(tidied(tree), drawing)
}

/** A line of the tree and those below it. */
interface Branch {
  readonly node: Explanation
  /** How the object was come by, where that is not said by the branch above. */
  readonly through: string | undefined
  readonly parts: readonly Branch[]
}

/**
 * The tree without steps that say nothing: the operator of a permission, an arrow that leads to one object, and what is
 * held by one tuple, which is shown itself.
 */
function tidied(node: Explanation): Branch {
  const direct = reachedBy(node) ?? heldBy(node)
  if (direct !== undefined) return { ...tidied(direct), through: throughOf(node) }
  const only = onlyPart(node)
  const isOperator = isNamed(node) && only?.kind === 'union' && only.omitted === undefined
  const { parts } = isOperator ? only : node
  return { node, through: undefined, parts: parts.map(tidied) }
}

/** The question at the one end of an arrow: `operate` on its Domain of `domain->operate`. */
function reachedBy(node: Explanation): Explanation | undefined {
  const edge = node.kind === 'arrow' ? onlyPart(node) : undefined
  const end = edge?.kind === 'tuple' && edge.condition === undefined ? onlyPart(edge) : undefined
  return end !== undefined && isNamed(end) ? end : undefined
}

/** The one tuple by which a relation is held. */
function heldBy(node: Explanation): Explanation | undefined {
  const only = node.kind === 'relation' && node.outcome !== 'denied' ? onlyPart(node) : undefined
  return only?.kind === 'tuple' ? only : undefined
}

function throughOf({ kind, name = '' }: Explanation): string | undefined {
  return kind === 'arrow' ? name.split('->')[0] : undefined
}

function onlyPart({ parts }: Explanation): Explanation | undefined {
  return parts.length === 1 ? parts[0] : undefined
}

function isNamed({ kind }: Explanation): boolean {
  return kind === 'permission' || kind === 'relation'
}

function branchLines({ node, through, parts }: Branch, drawing: Drawing): readonly string[] {
  const { strokes } = drawing
  const below = parts.flatMap((part, index) => {
    const isLast = index === parts.length - 1
    const [first = '', ...others] = branchLines(part, drawing)
    return [
      (isLast ? strokes.last : strokes.branch) + first,
      ...others.map((line) => (isLast ? strokes.belowLast : strokes.below) + line),
    ]
  })
  return [`${markOf(node.outcome ?? 'hidden', drawing)} ${labelOf(node, through, drawing)}`, ...below]
}

const PAINT = { granted: 'good', denied: 'bad', conditional: 'warn', hidden: 'dim' } as const

function markOf(mark: Mark, { strokes, style }: Drawing): string {
  // A later server may know further outcomes (S1 Versioning 2).
  const known = Object.hasOwn(PAINT, mark) ? mark : 'hidden'
  return style[PAINT[known]](strokes.marks[known])
}

function labelOf(node: Explanation, through: string | undefined, { naming, style }: Drawing): string {
  const words = harmless(labelOfKind(node.kind)(node, naming))
  const origin = through === undefined ? '' : style.dim(`, its ${harmless(through)}`)
  const condition = node.condition === undefined ? '' : harmless(conditionText(node.condition))
  const omitted = node.omitted === undefined ? '' : style.dim(` (${OMITTED[node.omitted]})`)
  return `${words}${origin}${condition}${omitted}`
}

/** A later server may know further kinds of steps, all of them about an object. */
function labelOfKind(kind: Explanation['kind']): Label {
  return Object.hasOwn(LABELS, kind) ? LABELS[kind] : onObject
}

type Label = (node: Explanation, naming: Naming) => string

const onObject: Label = ({ name = '', object = '' }, naming) => `${name} on ${naming.shown(object)}`

const LABELS: Readonly<Record<Explanation['kind'], Label>> = {
  permission: onObject,
  relation: onObject,
  arrow: onObject,
  union: () => 'any of',
  intersection: () => 'all of',
  exclusion: () => 'the first, but none of the others',
  all: ({ name = '', object = '' }, naming) => `${name} for all of them, on ${naming.shown(object)}`,
  self: ({ object = '' }, naming) => `being ${naming.shown(object)} itself`,
  nil: () => 'nobody',
  hidden: () => 'something that you may not see',
  tuple: ({ subject = '', name = '', object = '' }, naming) =>
    `${naming.shown(subject)} is ${name} of ${naming.shown(object)}`,
}

const OMITTED: Readonly<Record<NonNullable<Explanation['omitted']>, string>> = {
  repeated: 'shown elsewhere in the tree',
  cycle: 'asked already on the way here',
  too_large: 'more is left out',
}

/** `, if within_hours: not now` and the like. */
function conditionText({
  caveat,
  outcome,
  missing,
  is_expired: isExpired,
}: NonNullable<Explanation['condition']>): string {
  if (isExpired) return ', which has expired'
  if (caveat === '') return ''
  const how = {
    granted: 'which holds',
    denied: 'which does not hold',
    conditional: missing.length === 0 ? 'which is undecided' : `which needs ${missing.join(', ')}`,
  }
  return `, if ${caveat}, ${how[outcome]}`
}

/** Every reference in a tree, for looking their names up. */
export function referencesIn({ object, subject, parts }: Explanation): readonly string[] {
  return [object, subject, ...parts.flatMap(referencesIn)].filter((one) => one !== undefined)
}

/** Fields that decide what is conditional, by caveat. */
export function missingFields(tree: Explanation): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  collectMissing(tree, found)
  return found
}

function collectMissing({ condition, parts }: Explanation, found: Map<string, Set<string>>): void {
  if (condition?.outcome === 'conditional') {
    const fields = found.get(condition.caveat) ?? new Set()
    for (const field of condition.missing) fields.add(field)
    found.set(condition.caveat, fields)
  }
  for (const part of parts) collectMissing(part, found)
}
