import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { tokenCommand } from './owner.ts'

export function revoke(manifest: Manifest): Command {
  return tokenCommand(manifest, {
    own: 'DeleteAuthTokenByID',
    admin: 'DeleteAdminTokenByID',
    done: 'Revoked token {id}.',
    examples: ['ctl tokens revoke laptop', 'ctl tokens revoke laptop --for user:alice --yes'],
  })
}
