import type { Askable, Expression, RelationModel } from './model.ts'

/**
 * Names of what grants a relation or permission on an object of its type, in the order in which they are evaluated, each
 * once. Follows the expression on the object itself and names the relations that lead to parents.
 */
export function grantingNames(asked: Askable): readonly string[] {
  const names = new Set<string>()
  if (asked.kind === 'permission') addNames(names, asked.expression)
  return [...names]
}

function addNames(names: Set<string>, { reference, tupleset, parts }: Expression): void {
  const named: Askable | RelationModel | undefined = reference ?? tupleset
  if (named !== undefined && !names.has(named.name)) {
    names.add(named.name)
    if (named.kind === 'permission') addNames(names, named.expression)
  }
  for (const part of parts) addNames(names, part)
}
