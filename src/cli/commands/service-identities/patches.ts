import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { perform } from '../../derive/perform.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { KEYS_FILE, withKeys } from './keys-file.ts'

/** The derived command, which also takes the public keys from a file. */
export function change(manifest: Manifest): Command {
  const derived = derivedCommand(operationOf(manifest, 'UpdateServiceIdentity'), manifest)
  return {
    ...derived,
    flags: { ...derived.flags, ...KEYS_FILE },
    examples: [
      "ctl service-identities update build --display-name 'Build robot'",
      'ctl service-identities update build --jwks-file build.jwks.json',
    ],
    run: async (session, given) => derived.run(session, await withKeys(session, given)),
  }
}

export function disable(manifest: Manifest): Command {
  return switching(manifest, true, {
    command: 'service-identities disable',
    done: 'Disabled service identity {principal_id}: its tokens and assertions are refused.',
    confirm: 'yes',
  })
}

export function enable(manifest: Manifest): Command {
  return switching(manifest, false, {
    command: 'service-identities enable',
    done: 'Enabled service identity {principal_id}.',
  })
}

interface Words {
  readonly command: string
  readonly done: string
  readonly confirm?: 'yes'
}

/** A change of `disabled` by a verb of its own. */
function switching(manifest: Manifest, disabled: boolean, words: Words): Command {
  const update = operationOf(manifest, 'UpdateServiceIdentity')
  const operation = { ...update, cli: { ...update.cli, ...words } }
  const { args = [], uses = [], asks = false, flags = {} } = derivedCommand(operation, manifest)
  return {
    args,
    uses,
    asks,
    flags: { ...(flags['domain'] && { domain: flags['domain'] }) },
    examples: [`ctl ${words.command} build`],
    run: (session, given) => perform(session, { operation }, { ...given, flags: { ...given.flags, disabled } }),
  }
}
