import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { namedListCommand } from '../authz/named-list.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import { quoted } from '../../output/curl.ts'
import type { Session } from '../../session/session.ts'

export function list(manifest: Manifest): Command {
  const command = namedListCommand(manifest, 'ListRelationTuples')
  return {
    ...command,
    args: [
      {
        name: 'object',
        describe: 'On what: project:NAME, node:NAME, resource:NAME, …; all that you may read when absent',
        noun: 'objects',
        required: false,
      },
    ],
    examples: ['ctl tuples list project:web', 'ctl tuples list --project web --all -o jsonl'],
    run: async (session, given) => command.run(session, await onObject(session, given)),
  }
}

/** The object that was typed as the flags of the operation: its Project, and the object. */
async function onObject(session: Session, { args, flags }: Given): Promise<Given> {
  const [object] = args
  if (object === undefined) return { args, flags }
  if (flags['resource'] !== undefined) throw usageError('give the object either as an argument or with --resource')
  const [{ grantPlace }, { createResolver }] = await Promise.all([
    import('../grants/place.ts'),
    import('../../session/references.ts'),
  ])
  const place = await grantPlace(session, createResolver(session), object)
  if (place.on !== 'project')
    throw usageError(`"${object}" is in no Project, so its roles are no tuples`, `ctl grants list ${quoted(object)}`)
  return { args: [], flags: { ...flags, project: place.project, resource: place.resource } }
}
