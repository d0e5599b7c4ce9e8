import type { AgentDeps } from './agent-deps.ts'
import type { Member } from './member.ts'

/** Whether the agent ends, or the node is none any more: it repeats nothing then. */
export function isOver({ until }: Pick<AgentDeps, 'until'>, { isRevoked, isKeyRefused }: Member): boolean {
  return until.aborted || isRevoked || isKeyRefused
}
