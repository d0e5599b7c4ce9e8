import type { Member } from '../member.ts'

/** Whether the request of a pull is open: what an event changes now may be newer than the answer. */
export function isPulling({ pulling: { state } }: Pick<Member, 'pulling'>): boolean {
  return state === 'running' || state === 'again'
}
