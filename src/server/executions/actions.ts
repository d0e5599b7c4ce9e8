import { BUILTIN_ACTIONS } from '../../shared/contract/executions.ts'

/** What somebody asks a node to carry out. */
export interface Asked {
  readonly action: string
  readonly type: 'builtin' | 'hook'
}

const BUILTINS: ReadonlySet<string> = new Set(BUILTIN_ACTIONS)

interface Hook {
  readonly name: string
}

/** Whether a node that declares these hooks knows the action. A hook may have the name of a built-in action: the type tells them apart. */
export function isKnownAction({ action, type }: Asked, hooks: readonly Hook[]): boolean {
  return type === 'builtin' ? BUILTINS.has(action) : hooks.some(({ name }) => name === action)
}

/** Names in a refusal at most. */
const NAMED_MAX = 32

/** What may be asked for instead, as a sentence. */
export function knownActions(type: Asked['type'], hooks: readonly Hook[]): string {
  if (type === 'builtin') return `must be one of ${BUILTIN_ACTIONS.join(', ')}`
  if (hooks.length === 0) return 'names a hook, and the node declares none'
  const names = hooks.slice(0, NAMED_MAX).map(({ name }) => name)
  return `must be a hook that the node declares: ${names.join(', ')}${hooks.length > NAMED_MAX ? ', …' : ''}`
}
