import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { tokenCommand } from './owner.ts'

export function rotate(manifest: Manifest): Command {
  return tokenCommand(manifest, {
    own: 'PostAuthTokenRotate',
    admin: 'PostAdminTokenRotate',
    done: 'Rotated {name}. The new token is shown this once.',
    examples: ['ctl tokens rotate ci --grace 10m --jq .token > token', 'ctl tokens rotate deploy --for service:build'],
  })
}
