import { BUILTIN_ACTIONS } from '../../shared/contract/executions.ts'

/** What somebody asks a node to carry out. */
export interface Asked {
  readonly action: string
  readonly type: 'builtin' | 'hook'
}

const BUILTINS: ReadonlySet<string> = new Set(BUILTIN_ACTIONS)

/** Whether a node that declares these hooks knows the action. A hook may have the name of a built-in action: the type tells them apart. */
export function isKnownAction({ action, type }: Asked, hooks: readonly { readonly name: string }[]): boolean {
  return type === 'builtin' ? BUILTINS.has(action) : hooks.some(({ name }) => name === action)
}
