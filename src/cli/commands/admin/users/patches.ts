import type { Manifest, ManifestOperation } from '../../../../shared/contract/manifest-format.ts'
import type { Command } from '../../../argv/command.ts'
import { derivedCommand } from '../../../derive/derive.ts'
import { perform } from '../../../derive/perform.ts'

/** A change of accounts that people ask for by a word of its own. */
interface Patch {
  /** Flags of `admin users update` that it replaces. */
  readonly means: Readonly<Record<string, boolean>>
  readonly done: string
  readonly confirm?: 'yes'
  readonly examples: readonly string[]
}

export function disable(manifest: Manifest): Command {
  return patching(manifest, {
    means: { disabled: true },
    done: 'Disabled {login}: it signs in nowhere, and its sessions have ended.',
    confirm: 'yes',
    examples: ['ctl admin users disable ana'],
  })
}

export function enable(manifest: Manifest): Command {
  return patching(manifest, {
    means: { disabled: false },
    done: 'Enabled {login}.',
    examples: ['ctl admin users enable ana'],
  })
}

/** The way back for anyone who has lost the device. */
export function resetFactors(manifest: Manifest): Command {
  return patching(manifest, {
    means: { 'reset-second-factors': true },
    done: 'Forgot the second factors of {login}, whose sessions have ended. The password alone signs in until another one is set up.',
    confirm: 'yes',
    examples: ['ctl admin users reset-factors ana'],
  })
}

export function resetPassword(manifest: Manifest): Command {
  return patching(manifest, {
    means: { 'reset-password': true },
    done: 'Reset the password of {login}, whose sessions have ended. The one-time password is shown this once.',
    confirm: 'yes',
    examples: ['ctl admin users reset-password ana'],
  })
}

function patching(manifest: Manifest, { means, done, confirm, examples }: Patch): Command {
  const patch = manifest.operations['PatchAdminUserByID']
  if (patch?.cli === undefined) throw new Error('the contract has no command for PatchAdminUserByID')
  const cli = { ...patch.cli, done, ...(confirm !== undefined && { confirm }) }
  const operation: ManifestOperation = { ...patch, cli }
  const { args = [], uses = [], asks = false } = derivedCommand(operation, manifest)
  return {
    args,
    uses,
    asks,
    examples,
    run: (session, given) => perform(session, { operation }, { ...given, flags: { ...given.flags, ...means } }),
  }
}
