import type { Askable, Expression, Model, PermissionModel, RelationModel } from '../../../shared/authz/model.ts'
import type { Trace } from './trace.ts'

/** Whether a granted question of the trace may be used for a path. */
export type MayUse = (trace: Trace) => boolean

/**
 * Finds the names of the relations that grant a check in its trace, in the form of the embedded engine. If several ways
 * grant, the first in the order of the schema is taken. SpiceDB evaluates them concurrently and returns those that it
 * used.
 * @returns undefined if no way of the trace consists only of granted questions that may be used.
 */
export function grantPath(asked: Askable, trace: Trace, walk: PathWalk): readonly string[] | undefined {
  if (asked.kind === 'relation') return pathOfRelation(asked, trace, walk)
  const alias = aliasOf(asked)
  if (alias !== undefined) {
    // The trace may begin at the alias, or at the relation of the alias.
    const inner = trace.name === asked.engineName ? pathWithin(alias, trace, walk) : undefined
    return prefixed(alias.name, inner ?? grantPath(alias, trace, walk))
  }
  if (!isUsable(trace, walk)) return undefined
  return pathOfExpression(asked.expression, trace, walk)
}

export interface PathWalk {
  readonly model: Model
  readonly mayUse: MayUse
  /** The subject of the check, `<type>:<id>`. */
  readonly subject: string
}

const isUsable = (trace: Trace, { mayUse }: PathWalk): boolean => trace.isGranted && mayUse(trace)

/** The relation or permission that a permission is an alias of. */
function aliasOf({ expression }: PermissionModel): Askable | undefined {
  return expression.op === 'reference' ? expression.reference : undefined
}

/** The end of a chain of aliases: the name that SpiceDB evaluates. */
function resolved(asked: Askable): Askable {
  const alias = asked.kind === 'permission' ? aliasOf(asked) : undefined
  return alias === undefined ? asked : resolved(alias)
}

const prefixed = (name: string, rest: readonly string[] | undefined) => rest && [name, ...rest]

/** The path of a question that is a part of the traced one, on the same object. */
function pathWithin(asked: Askable, trace: Trace, walk: PathWalk): readonly string[] | undefined {
  const name = resolved(asked).engineName
  const { type, id } = trace.object
  for (const part of trace.parts) {
    if (part.name !== name || part.object.type !== type || part.object.id !== id) continue
    const path = grantPath(asked, part, walk)
    if (path !== undefined) return path
  }
  return undefined
}

/** A member of the relation itself, or of a set that it contains. */
function pathOfRelation(relation: RelationModel, trace: Trace, walk: PathWalk): readonly string[] | undefined {
  if (!isUsable(trace, walk)) return undefined
  for (const part of trace.parts.filter(({ isGranted }) => isGranted)) {
    const rule = relation.subjects.find(
      ({ type, relation: member }) =>
        member !== undefined && type.name === part.object.type && resolved(member).engineName === part.name,
    )
    const path = rule?.relation && prefixed(rule.relation.name, grantPath(rule.relation, part, walk))
    if (path !== undefined) return path
  }
  return trace.parts.some(({ isGranted }) => isGranted) ? undefined : []
}

type PathOf = (expression: Expression, trace: Trace, walk: PathWalk) => readonly string[] | undefined

const OPERATIONS: { readonly [op in Expression['op']]?: PathOf } = {
  reference: ({ reference }, trace, walk) => reference && prefixed(reference.name, pathWithin(reference, trace, walk)),
  arrow: pathOfArrow,
  all: pathOfArrow,
  self: (_expression, { object }, { subject }) => (`${object.type}:${object.id}` === subject ? [] : undefined),
  union: ({ parts }, trace, walk) => firstOf(parts, (part) => pathOfExpression(part, trace, walk)),
  intersection: ({ parts }, trace, walk) => joined(parts.map((part) => pathOfExpression(part, trace, walk))),
  exclusion: ({ parts: [from] }, trace, walk) => from && pathOfExpression(from, trace, walk),
}

function pathOfExpression(expression: Expression, trace: Trace, walk: PathWalk): readonly string[] | undefined {
  return OPERATIONS[expression.op]?.(expression, trace, walk)
}

function pathOfArrow({ tupleset, targets }: Expression, trace: Trace, walk: PathWalk): readonly string[] | undefined {
  if (tupleset === undefined) return undefined
  return firstOf(trace.parts, (part) => {
    const type = walk.model.type(part.object.type)
    const target = type && targets[type.index]
    const isParent = tupleset.subjects.some((rule) => rule.type === type)
    if (target === undefined || !isParent || resolved(target).engineName !== part.name) return undefined
    const path = prefixed(target.name, grantPath(target, part, walk))
    return prefixed(tupleset.name, path)
  })
}

function firstOf<T>(parts: readonly T[], path: (part: T) => readonly string[] | undefined) {
  for (const part of parts) {
    const found = path(part)
    if (found !== undefined) return found
  }
  return undefined
}

function joined(paths: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  const names: string[] = []
  for (const path of paths) {
    if (path === undefined) return undefined
    names.push(...path)
  }
  return names
}
