import type { AgentDeps } from '../agent-deps.ts'
import { isRefusedKey } from '../calls/refused-key.ts'
import type { KeyedMember } from '../member.ts'

/** The node secret key of the next call: the next one as soon as it is stored. */
export function secretKeyOf({ identity, isSavingKey }: Pick<KeyedMember, 'identity' | 'isSavingKey'>): string {
  return isSavingKey ? identity.nsk : (identity.next_nsk ?? identity.nsk)
}

/** Forgets the former key after the first successful call with the next one. */
export function acceptSecretKey({ tasks, actions }: AgentDeps, node: KeyedMember, nsk: string): void {
  const { next_nsk: next, ...identity } = node.identity
  if (next !== nsk) return
  node.identity = { ...identity, nsk }
  tasks.track(actions.save(node))
}

/**
 * Takes the refusal of a key. A next key that the server does not know is forgotten: it was restored from a backup. The refusal of
 * the only key is final, and reported once. That of a key which was replaced during the call means nothing.
 */
export function refuseSecretKey(
  { tasks, actions }: AgentDeps,
  node: KeyedMember,
  { nsk, code }: { readonly nsk: string; readonly code: string },
): void {
  if (!isRefusedKey(code) || nsk !== secretKeyOf(node)) return
  const { next_nsk: next, ...identity } = node.identity
  if (next === nsk) {
    node.identity = identity
    return tasks.track(actions.save(node))
  }
  if (node.isKeyRefused) return
  node.isKeyRefused = true
  actions.refused(node, code)
}
