import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { previewableCommand } from '../../authz/previewable.ts'
import { asking } from '../../authz/triple.ts'
import type { Command } from '../../command.ts'
import { grantEdit } from '../../tuples/edits.ts'

export function createGrant(manifest: Manifest): Command {
  return previewableCommand(manifest, {
    operation: asking(manifest, 'CreateDomainGrant'),
    examples: ['ctl grants create user:alice operator', 'ctl grants create group:ops viewer --domain lab --dry-run'],
    editsOf: grantEdit('create'),
    roleOf: ({ args: [, role = ''] }) => ({ type: 'domain', role }),
  })
}

export function deleteGrant(manifest: Manifest): Command {
  return previewableCommand(manifest, {
    operation: asking(manifest, 'DeleteDomainGrant'),
    examples: ['ctl grants delete 7c2a91', 'ctl grants delete 7c2a91 --dry-run'],
    editsOf: grantEdit('delete'),
  })
}

export function createPlatformGrant(manifest: Manifest): Command {
  return previewableCommand(manifest, {
    operation: asking(manifest, 'CreatePlatformGrant'),
    examples: ['ctl grants platform create user:alice admin --dry-run'],
    editsOf: grantEdit('create'),
    roleOf: ({ args: [, role = ''] }) => ({ type: 'platform', role }),
  })
}

export function deletePlatformGrant(manifest: Manifest): Command {
  return previewableCommand(manifest, {
    operation: asking(manifest, 'DeletePlatformGrant'),
    examples: ['ctl grants platform delete 7c2a91 --dry-run'],
    editsOf: grantEdit('delete'),
  })
}
