import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { perform } from '../../derive/perform.ts'
import { createResolver } from '../../session/references.ts'
import { operationOf } from '../../session/noun-lists.ts'
import type { Session } from '../../session/session.ts'

/** The derived command, whose `--cloud` beside `--credential` says where that name is looked up. */
export function request(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'RequestCredentialAssignment')
  return {
    ...derivedCommand(operation, manifest),
    description:
      'With --cloud alone the newest credential of the Cloud that can be lent is taken. --credential names one by its id, or by its name in --cloud. The Project can use it once somebody else has approved the request.',
    examples: [
      'ctl credentials request --project web --cloud eu1',
      'ctl credentials request --project web --cloud eu1 --credential production',
    ],
    run: async (session, given) => perform(session, { operation }, await oneTarget(session, given)),
  }
}

/** What was typed, with one of the two members: the API takes no more. */
async function oneTarget(session: Session, { args, flags }: Given): Promise<Given> {
  const { cloud, credential, ...others } = flags
  if (others['from-file'] !== undefined) return { args, flags }
  if (cloud === undefined && credential === undefined)
    throw usageError('say what to request', 'Give --cloud CLOUD, or --credential ID')
  if (typeof cloud !== 'string' || typeof credential !== 'string') return { args, flags }
  const resolver = createResolver(session)
  const { id } = await resolver.object('clouds', cloud, {})
  const found = await resolver.object('cloud-credentials', credential, { clouds: id })
  return { args, flags: { ...others, credential: found.id } }
}
