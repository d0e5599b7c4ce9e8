import type { Askable, Expression } from '../model.ts'
import type { DefinitionNode } from './ast.ts'
import type { ModelDraft } from './draft.ts'
import { SchemaError } from './schema-error.ts'

/** Steps that finding the subject types of all annotated permissions may take. */
const STEPS_MAX = 5_000_000

/** @throws SchemaError where a permission says which types of subjects may be granted it and leaves one out. */
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

/** The types of subjects that a relation or permission may come down to. */
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

/** What a relation takes the subjects of, or a permission asks. */
function reachedFrom(member: Askable): Askable[] {
  if (member.kind === 'permission') return askedBy(member.expression)
  return member.subjects.map(({ relation }) => relation).filter((relation) => relation !== undefined)
}

/** What an expression asks, of the same object and of those that its arrows reach. */
function askedBy({ reference, tupleset, targets, parts }: Expression): Askable[] {
  const reached = (tupleset?.subjects ?? []).map(({ type }) => targets[type.index])
  return [reference, ...reached, ...parts.flatMap(askedBy)].filter((member) => member !== undefined)
}
