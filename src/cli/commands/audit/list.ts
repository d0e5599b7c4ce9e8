import { parseReference } from '../../../shared/ids.ts'
import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { rowFilter, rowFlags } from './row-filter.ts'
import { namingForPeople, type NamedMembers } from '../authz/named-list.ts'
import { ONE_PAGE_ROWS, type Naming } from '../authz/naming.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { operationOf } from '../../session/noun-lists.ts'

/** Digits of an id in a table, as in its other cells. */
const ID_DIGITS = 8

/** Every call for names is itself a row of the log. */
const NAMED: NamedMembers = {
  members: ['subject', 'object'],
  shown: beside,
  lookup: { rowsMax: ONE_PAGE_ROWS },
}

/** `user:alice (3d2e4b11)`: a name can change or be given again, and the log is about the id. */
function beside(names: Naming, reference: string): string {
  const id = parseReference(reference)?.id ?? reference
  const shown = names.shown(reference)
  return shown.includes(id) || shown === 'platform' ? reference : `${shown} (${id.slice(-ID_DIGITS)})`
}

/** Lists audited decisions, with names where a person reads it. */
export function list(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetAudit')
  return {
    ...derivedCommand(operation, manifest),
    description: [
      'On a terminal, subjects and objects have their names beside the ends of their ids; -o wide has whole ids.',
      'Names come from one page of the list of each kind. Those calls are audited too; -o wide makes none.',
    ].join('\n'),
    flags: rowFlags(operation, manifest),
    examples: [
      'ctl audit list --writes --actor user --since 1d',
      'ctl audit list --relation node. --outcome permission_denied',
    ],
    run: async (session, given) => {
      const { perform } = await import('../../derive/perform.ts')
      await perform(await namingForPeople(session, NAMED), { operation }, rowFilter(session, given))
    },
  }
}
