import { CliError, usageError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/exit-code.ts'
import { namedSome } from '../output/counts.ts'
import { idOf, nameOf } from '../output/members.ts'
import { harmless } from '../output/style.ts'
import type { Resolved } from './pick.ts'

/** The noun of resources of kind bridge. */
export const BRIDGE = 'bridge'

/**
 * The one bridge of a Project. Throws not found where the Project has none that the caller may see, and a usage error that lists
 * them where it has several.
 */
export function onlyBridge(rows: readonly unknown[]): Resolved {
  const [row, ...others] = rows
  const id = idOf(row)
  if (id === undefined)
    throw new CliError('the Project has no bridge, or you may not see it', {
      exitCode: EXIT.notFound,
      code: 'no_bridge',
      hints: [
        'Create one: ctl resources create NAME --kind bridge --display-name TEXT --host-node NODE',
        'If it is in another Project, add --project.',
      ],
    })
  if (others.length > 0) {
    const names = rows.map((one) => harmless(nameOf(one) ?? ''))
    throw usageError('the Project has several bridges; say which one', `Name one of them: ${namedSome(names)}`)
  }
  return { id, label: nameOf(row) ?? id, row }
}
