import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { previewableCommand } from '../authz/previewable.ts'
import type { Command } from '../../argv/command.ts'
import { membershipEdit } from '../tuples/edits.ts'
import { operationOf } from '../../session/noun-lists.ts'

export function addMember(manifest: Manifest): Command {
  return previewableCommand(manifest, {
    operation: operationOf(manifest, 'PutGroupMember'),
    examples: ['ctl groups add-member ops user:alice', 'ctl groups add-member ops user:alice --dry-run'],
    editsOf: membershipEdit('create'),
  })
}

export function removeMember(manifest: Manifest): Command {
  return previewableCommand(manifest, {
    operation: operationOf(manifest, 'DeleteGroupMember'),
    examples: ['ctl groups remove-member ops user:alice', 'ctl groups remove-member ops user:alice --dry-run'],
    editsOf: membershipEdit('delete'),
  })
}
