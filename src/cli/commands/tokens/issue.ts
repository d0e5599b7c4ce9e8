import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { tokenCommand } from './owner.ts'

export function issue(manifest: Manifest): Command {
  return tokenCommand(manifest, {
    own: 'PostAuthTokens',
    admin: 'PostAdminTokens',
    done: 'Issued {name}; it expires at {expires_at}. The token is shown this once.',
    examples: [
      'ctl tokens issue laptop',
      'ctl tokens issue ci --scopes nodes:read,audit:read --expires-in 30d --jq .token > token',
      'ctl tokens issue deploy --for service:build',
    ],
  })
}
