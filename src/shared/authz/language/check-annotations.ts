import type { Askable, Expression } from '../model.ts'
import type { DefinitionNode } from './ast.ts'
import type { ModelDraft } from './draft.ts'
import { SchemaError } from './schema-error.ts'

/** Maximum of steps to find the subject types of all annotated permissions. */
const STEPS_MAX = 5_000_000

/** @throws SchemaError if the declared subject types of a permission lack one that its expression can reach. */
export function checkAnnotations(definitions: readonly DefinitionNode[], model: ModelDraft): void {
  let steps = 0
  for (const definition of definitions) {
    for (const { name, at, subjectTypes } of definition.permissions) {
      const permission = model.byName.get(definition.name)?.members.get(name)
      if (permission === undefined || subjectTypes === undefined) continue
      const reached = reachableTypes(permission)
      steps += reached.steps
      if (steps > STEPS_MAX) throw new SchemaError(at, 'expected fewer permissions with types after ":"')
      const missing = [...reached.types].find((type) => !subjectTypes.includes(type))
      if (missing === undefined) continue
      throw new SchemaError(at, `expected "${name}" to name every type that may be granted it, "${missing}" is missing`)
    }
  }
}

/** The types of subjects that a relation or permission can have. */
function reachableTypes(start: Askable): { readonly types: ReadonlySet<string>; readonly steps: number } {
  const seen = new Set<Askable>([start])
  const types = new Set<string>()
  for (const member of seen) {
    const subjects = member.kind === 'relation' ? member.subjects : []
    for (const { type, relation } of subjects) if (relation === undefined) types.add(type.name)
    for (const next of reachedFrom(member)) seen.add(next)
  }
  return { types, steps: seen.size }
}

/** The relations and permissions whose subjects a relation or permission includes. */
function reachedFrom(member: Askable): Askable[] {
  if (member.kind === 'permission') return askedBy(member.expression)
  return member.subjects.map(({ relation }) => relation).filter((relation) => relation !== undefined)
}

/** The relations and permissions that an expression refers to, on the same object and through arrows. */
function askedBy({ reference, tupleset, targets, parts }: Expression): Askable[] {
  const reached = (tupleset?.subjects ?? []).map(({ type }) => targets[type.index])
  return [reference, ...reached, ...parts.flatMap(askedBy)].filter((member) => member !== undefined)
}
