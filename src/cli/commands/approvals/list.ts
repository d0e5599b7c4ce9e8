import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { namingForPeople, type NamedMembers } from '../authz/named-list.ts'

const FLAGS: FlagSpecs = {
  mine: { kind: 'switch', describe: 'Only your own requests' },
  'to-decide': { kind: 'switch', describe: 'Only requests of others that wait and that you may decide' },
}

const REQUESTER: NamedMembers = { members: ['requested_by'], shown: (names, reference) => names.shown(reference) }

/** The derived list, with words for the two questions that people have, and names for those who request. */
export function listApprovals(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'ListApprovals')
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    flags: { ...derived.flags, ...FLAGS },
    examples: [
      'ctl approvals list --to-decide',
      'ctl approvals list --mine --state pending-approval',
      'ctl approvals list --project web -o wide',
    ],
    async run(session, given) {
      const { perform } = await import('../../derive/perform.ts')
      await perform(await namingForPeople(session, REQUESTER), { operation }, plain(given))
    },
  }
}

/** What was typed in the members of the operation. @throws CliError where two flags contradict each other. */
function plain({ args, flags }: Given): Given {
  const { mine, 'to-decide': toDecide, ...others } = flags
  if (mine === true && toDecide === true) throw usageError('give either --mine or --to-decide: nobody decides its own')
  if (mine !== true && toDecide !== true) return { args, flags: others }
  if (others['role'] !== undefined) throw usageError('--role is what --mine and --to-decide say already')
  if (mine === true) return { args, flags: { ...others, role: 'requester' } }
  return { args, flags: { state: 'pending-approval', ...others, role: 'decider' } }
}
