import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { perform } from '../../derive/perform.ts'
import { operationOf } from '../../session/noun-lists.ts'

export const suspend = (manifest: Manifest): Command =>
  toState(manifest, { state: 'suspended', done: 'Suspended credential {display_name}.' })

export const resume = (manifest: Manifest): Command =>
  toState(manifest, { state: 'active', done: 'Credential {display_name} can be lent again.' })

/** The patch of a credential that changes its state only. */
function toState(manifest: Manifest, { state, done }: { readonly state: string; readonly done: string }): Command {
  const patch = operationOf(manifest, 'PatchCloudCredential')
  const operation = { ...patch, cli: { ...patch.cli, command: patch.cli?.command ?? '', done } }
  const { flags: derived, ...command } = derivedCommand(operation, manifest)
  const { cloud } = derived ?? {}
  return {
    ...command,
    flags: cloud === undefined ? {} : { cloud },
    run: (session, given) => perform(session, { operation }, { ...given, flags: { ...given.flags, state } }),
  }
}
