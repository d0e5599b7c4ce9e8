import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { listOf, operationOf } from '../../session/noun-lists.ts'

/** The list of identities, those of workloads only. */
export function list(manifest: Manifest): Command {
  const operation = listOf(manifest, 'service-identities')
  if (operation === undefined) throw new Error('the contract lists no identities')
  return { ...derivedCommand(operation, manifest), examples: ['ctl service-identities list'] }
}

/** The page of an identity, looked up among those of workloads. */
export function show(manifest: Manifest): Command {
  const { cli, ...operation } = operationOf(manifest, 'GetIdentity')
  const refs = { ...cli?.refs, principal_id: 'service-identities' }
  const spoken = { ...operation, cli: { ...cli, command: 'service-identities show', refs } }
  return { ...derivedCommand(spoken, manifest), examples: ['ctl service-identities show build'] }
}
