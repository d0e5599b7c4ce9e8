import { BUILTIN_ACTIONS } from '../../../shared/contract/executions.ts'

/** The action that a node is asked to run. */
export interface Asked {
  readonly action: string
  readonly type: 'builtin' | 'hook'
}

/** The same before the type is known. */
export interface WantedAction {
  readonly action: string
  readonly type?: Asked['type'] | undefined
}

const BUILTINS: ReadonlySet<string> = new Set(BUILTIN_ACTIONS)

interface Hook {
  readonly name: string
}

/**
 * The default type of an action: built-in where there is a built-in action of that name, else a hook. Undefined
 * where there is neither.
 */
export function typeOf(action: string, hooks: readonly Hook[]): Asked['type'] | undefined {
  const types = ['builtin', 'hook'] as const
  return types.find((type) => isKnownAction({ action, type }, hooks))
}

/** Whether a node that declares these hooks knows the action. A hook may have the name of a built-in action: the type distinguishes them. */
export function isKnownAction({ action, type }: Asked, hooks: readonly Hook[]): boolean {
  return type === 'builtin' ? BUILTINS.has(action) : hooks.some(({ name }) => name === action)
}

/** Maximum of names in a refusal. */
const NAMED_MAX = 32

/** The available actions, as a sentence. */
export function knownActions({ action, type }: WantedAction, hooks: readonly Hook[]): string {
  const builtins = `must be one of ${BUILTIN_ACTIONS.join(', ')}`
  if (type === undefined) return hooks.length === 0 ? builtins : `${builtins}, or a hook of the node: ${namesOf(hooks)}`
  if (type === 'hook') {
    if (hooks.length === 0) return 'names a hook, and the node declares none'
    return `must be a hook that the node declares: ${namesOf(hooks)}`
  }
  const isHook = hooks.some(({ name }) => name === action)
  return isHook ? 'names a hook of the node and no built-in action: ask for it with type hook' : builtins
}

function namesOf(hooks: readonly Hook[]): string {
  const names = hooks.slice(0, NAMED_MAX).map(({ name }) => name)
  return `${names.join(', ')}${hooks.length > NAMED_MAX ? ', …' : ''}`
}
