import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { KEYS_FILE, withKeys } from './keys-file.ts'

/** The derived command, which also takes the public keys from a file. */
export function create(manifest: Manifest): Command {
  const derived = derivedCommand(operationOf(manifest, 'CreateServiceIdentity'), manifest)
  return {
    ...derived,
    flags: { ...derived.flags, ...KEYS_FILE },
    examples: [
      'ctl service-identities create build --display-name Build --jwks-file build.jwks.json',
      'ctl service-identities create build --display-name Build --spiffe-id spiffe://example.org/build',
      `ctl service-identities create 'https://token.actions.githubusercontent.com#repo:acme/web:ref:refs/heads/main' --display-name 'Deploys of web'`,
    ],
    run: async (session, given) => derived.run(session, await withKeys(session, given)),
  }
}
