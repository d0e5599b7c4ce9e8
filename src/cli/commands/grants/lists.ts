import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { namedListCommand } from '../../authz/named-list.ts'
import type { Command } from '../../command.ts'

export function listGrants(manifest: Manifest): Command {
  return namedListCommand(manifest, 'ListDomainGrants')
}

export function listPlatformGrants(manifest: Manifest): Command {
  return namedListCommand(manifest, 'ListPlatformGrants')
}
