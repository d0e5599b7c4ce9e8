import type { Askable, Expression, PermissionModel } from '../model.ts'
import type { DefinitionNode, ExpressionNode } from './ast.ts'
import type { ModelDraft } from './draft.ts'
import { SchemaError } from './schema-error.ts'

/** @throws SchemaError if a permission refers to itself on the same object, directly or not. */
export function checkPermissionCycles(definitions: readonly DefinitionNode[], model: ModelDraft): void {
  const finished = new Set<Askable>()
  for (const definition of definitions) {
    for (const { name, at } of definition.permissions) {
      const permission = model.byName.get(definition.name)?.members.get(name)
      const isCyclic = permission?.kind === 'permission' && reachesOpen(permission, finished)
      if (isCyclic) throw new SchemaError(at, `expected a permission that does not depend on itself, found "${name}"`)
    }
  }
}

/** Whether the walk from a permission reaches one that is still being visited. Visits each permission once in all. */
function reachesOpen(start: PermissionModel, finished: Set<Askable>): boolean {
  const open = new Set<Askable>()
  const stack: { readonly at: Askable; readonly next: Iterator<Askable> }[] = []
  const enter = (at: PermissionModel): void => {
    open.add(at)
    stack.push({ at, next: references(at.expression).values() })
  }
  if (!finished.has(start)) enter(start)
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const { value, done } = top.next.next()
    if (done === true) {
      stack.pop()
      open.delete(top.at)
      finished.add(top.at)
    } else if (open.has(value)) return true
    else if (value.kind === 'permission' && !finished.has(value)) enter(value)
  }
  return false
}

/** The relations and permissions of the same object that an expression refers to. */
function references(expression: Expression): Askable[] {
  if (expression.reference !== undefined) return [expression.reference]
  return expression.parts.flatMap(references)
}

/**
 * @throws SchemaError if a userset of another type would include a wildcard (`group#member`, where members may be
 * `user:*`), or an arrow would follow one.
 */
export function checkWildcards(definitions: readonly DefinitionNode[], model: ModelDraft): void {
  const wild = wildRelations(model)
  for (const definition of definitions) {
    for (const { type, relation, at } of definition.relations.flatMap(({ subjects }) => subjects)) {
      const member = relation === undefined ? undefined : model.byName.get(type)?.members.get(relation)
      if (member === undefined || type === definition.name || !wild.has(member)) continue
      throw new SchemaError(at, `expected a userset without wildcards, found "${type}#${relation}"`)
    }
    for (const { expression } of definition.permissions) checkArrows(expression, definition, { model, wild })
  }
}

interface Wildcards {
  readonly model: ModelDraft
  readonly wild: ReadonlySet<Askable>
}

function checkArrows(node: ExpressionNode, definition: DefinitionNode, { model, wild }: Wildcards): void {
  if ('parts' in node) for (const part of node.parts) checkArrows(part, definition, { model, wild })
  if (node.kind !== 'arrow' && node.kind !== 'all') return
  const tupleset = model.byName.get(definition.name)?.members.get(node.relation)
  if (tupleset === undefined || !wild.has(tupleset)) return
  throw new SchemaError(node.at, `expected a relation without wildcards before "->", found "${node.relation}"`)
}

/** The relations that allow a wildcard, or a userset of a relation that does. */
function wildRelations({ types }: ModelDraft): ReadonlySet<Askable> {
  const relations = types.flatMap((type) => type.relations)
  const takenBy = new Map<Askable, Askable[]>()
  for (const relation of relations) {
    for (const subject of relation.subjects) {
      if (subject.relation === undefined) continue
      const takers = takenBy.get(subject.relation)
      if (takers === undefined) takenBy.set(subject.relation, [relation])
      else takers.push(relation)
    }
  }
  const wild = new Set<Askable>(relations.filter(({ subjects }) => subjects.some(({ kind }) => kind === 'wildcard')))
  for (const relation of wild) for (const taker of takenBy.get(relation) ?? []) wild.add(taker)
  return wild
}
