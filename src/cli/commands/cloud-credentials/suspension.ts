import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { perform } from '../../derive/perform.ts'
import { operationOf } from '../../session/noun-lists.ts'

/** `cloud-credentials suspend`. */
export function suspend(manifest: Manifest): Command {
  return switching(manifest, 'suspended', {
    summary: 'Suspend a credential',
    command: 'cloud-credentials suspend',
    done: 'Suspended credential {display_name}: no Project is configured with it until it is resumed. Its assignments stay.',
    confirm: 'yes',
  })
}

/** `cloud-credentials resume`. */
export function resume(manifest: Manifest): Command {
  return switching(manifest, 'active', {
    summary: 'Resume a credential',
    command: 'cloud-credentials resume',
    done: 'Resumed credential {display_name}, which is {state} now.',
  })
}

interface Words {
  /** What the question asks. */
  readonly summary: string
  readonly command: string
  readonly done: string
  readonly confirm?: 'yes'
}

/** A change of `state` by a verb of its own. */
function switching(manifest: Manifest, state: 'active' | 'suspended', { summary, ...words }: Words): Command {
  const update = operationOf(manifest, 'PatchCloudCredential')
  const { examples: _ofUpdate, ...cli } = update.cli ?? { command: '' }
  const operation = { ...update, summary, cli: { ...cli, ...words } }
  const { args = [], uses = [], asks = false, flags = {} } = derivedCommand(operation, manifest)
  return {
    args,
    uses,
    asks,
    flags: { ...(flags['cloud'] && { cloud: flags['cloud'] }) },
    examples: [`ctl ${words.command} production --cloud eu1`],
    run: (session, given) => perform(session, { operation }, { ...given, flags: { ...given.flags, state } }),
  }
}
