import { problem, type Problem } from '../../shared/problems.ts'
import type { Conflict } from './bridge-world.ts'

/** The problem with which a write that causes the conflict is refused. */
export function problemOf(conflict: Conflict): Problem {
  switch (conflict.code) {
    case 'bridge_port_conflict':
      return problem(conflict.code, { port: conflict.port, conflicts_with: conflict.with })
    case 'interface_name_conflict':
      return problem(conflict.code, { conflicts_with: conflict.with })
    case 'subnet_overlap_with_mesh':
      return problem(conflict.code, { subnet: conflict.subnet })
    case 'max_peers_reached':
      return problem(conflict.code, { limit: conflict.limit })
    case 'subnet_overlap_with_tunnel':
    case 'subnet_overlap_with_user_access':
      return problem(conflict.code, { subnet: conflict.subnet, conflicts_with: conflict.with })
    case 'bridge_limit_exceeded':
      return problem(conflict.code, { limit: conflict.limit })
    default:
      return problem(conflict.code)
  }
}

/** Refuses for the first of the conflicts. @throws Problem of that one. */
export function assertNone([first]: readonly Conflict[]): void {
  if (first !== undefined) throw problemOf(first)
}
