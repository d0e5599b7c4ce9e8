import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { previewableCommand } from '../authz/previewable.ts'
import type { Command } from '../../argv/command.ts'
import { deleteEdit } from './edits.ts'
import { withTupleIds } from './tuple-reference.ts'
import { operationOf } from '../../session/noun-lists.ts'

export function deleteTuple(manifest: Manifest): Command {
  return previewableCommand(manifest, {
    operation: operationOf(manifest, 'DeleteRelationTuple'),
    examples: [
      'ctl tuples delete 7c2a91 --project web',
      "ctl tuples delete 'project:web#viewer@user:alice' --dry-run",
      'ctl tuples list --project old -o name | ctl tuples delete - --project old --yes',
    ],
    editsOf: deleteEdit,
    retyped: withTupleIds,
  })
}
