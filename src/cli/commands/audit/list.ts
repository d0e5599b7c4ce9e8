import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { changedForPeople } from '../authz/named-list.ts'
import { namedRows } from './named-rows.ts'
import { rowFilter, rowFlags } from './row-filter.ts'

/** Lists audited decisions, with names where a person reads it. */
export function list(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetAudit')
  return {
    ...derivedCommand(operation, manifest),
    description:
      'On a terminal, subjects and objects have their present names beside the ends of their ids; -o wide has whole ids.',
    flags: rowFlags(operation, manifest),
    examples: [
      'ctl audit list --writes --actor user --since 1d',
      'ctl audit list --writes --actor user:alice@example.com --relation bridge.',
      'ctl audit list --relation node. --outcome permission_denied',
    ],
    run: async (session, given) => {
      const { perform } = await import('../../derive/perform.ts')
      const shown = await changedForPeople(session, namedRows)
      await perform(shown, { operation }, rowFilter(session, given))
    },
  }
}
