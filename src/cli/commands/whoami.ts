import type { Manifest } from '../../shared/contract/manifest-format.ts'
import type { Command } from '../argv/command.ts'
import { derivedCommand } from '../derive/derive.ts'

const COLUMNS = [
  'subject',
  'display_name',
  'kind',
  'domain_id',
  'credential.type',
  'credential.id',
  'credential.scopes',
  'credential.expires_at',
  'acr',
  'auth_time',
]

export function whoami(manifest: Manifest): Command {
  const operation = manifest.operations['GetAuthWhoami']
  if (operation === undefined) throw new Error('the contract has no GetAuthWhoami')
  const spoken = { ...operation, cli: { command: 'whoami', columns: COLUMNS } }
  return { ...derivedCommand(spoken, manifest), examples: ['ctl whoami', 'ctl whoami --jq .subject'] }
}
