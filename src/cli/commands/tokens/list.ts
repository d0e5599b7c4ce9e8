import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { tokenCommand } from './owner.ts'

export function list(manifest: Manifest): Command {
  return tokenCommand(manifest, {
    own: 'GetAuthTokens',
    admin: 'GetAdminTokens',
    examples: ['ctl tokens list', 'ctl tokens list --for user:alice --sort -last_used_at'],
  })
}
