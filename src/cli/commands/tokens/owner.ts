import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { perform } from '../../derive/perform.ts'
import type { FlagSpec } from '../../argv/flags.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'

const FOR: FlagSpec = {
  kind: 'text',
  value: 'IDENTITY',
  noun: 'owners',
  describe: "Another identity's: user:NAME or service:NAME; needs manage on its Domain",
}

/** An operation on one's own tokens with its administrative twin. */
export interface Twins {
  readonly own: string
  readonly admin: string
  /** Said after success, with holes as in the contract. */
  readonly done?: string
  readonly examples: readonly string[]
}

/** The command of one's own operation, which `--for` turns into its twin's. */
export function tokenCommand(manifest: Manifest, twins: Twins): Command {
  const own = spoken(manifest, twins.own, twins)
  const command = derivedCommand(own, manifest)
  return {
    ...command,
    flags: { ...command.flags, for: FOR },
    examples: twins.examples,
    async run(session, given) {
      const { for: owner, ...flags } = given.flags
      if (typeof owner !== 'string') return perform(session, { operation: own }, given)
      const identity = await identityRef(session, owner)
      const admin = { ...spoken(manifest, twins.admin, twins), cli: own.cli } as ManifestOperation
      const takesOwner = [...admin.query, ...(admin.body?.fields ?? [])].some(({ name }) => name === 'identity_ref')
      return perform(
        session,
        {
          operation: admin,
          lists: { tokens: { operation: session.operation('GetAdminTokens'), input: { identity_ref: identity } } },
        },
        { ...given, flags: takesOwner ? { ...flags, 'identity-ref': identity } : flags },
      )
    },
  }
}

function spoken(manifest: Manifest, id: string, { done }: Twins): ManifestOperation {
  const operation = manifest.operations[id]
  if (operation?.cli === undefined) throw new Error(`the contract has no command for ${id}`)
  return { ...operation, cli: { ...operation.cli, ...(done !== undefined && { done }) } }
}

/** `service:build` as the administrative operations take it: kind and whole id. */
async function identityRef(session: Session, text: string): Promise<string> {
  const subject = await createResolver(session).subject(text, {})
  const [type, id] = subject.split(':')
  if (type === 'serviceaccount') return `service:${id ?? ''}`
  if (type === 'user') return subject
  throw usageError(`--for needs user:NAME or service:NAME, not "${text}"`)
}
