import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { memberOf } from '../../output/members.ts'
import { beside } from '../audit/named-rows.ts'
import { changedForPeople } from '../authz/named-list.ts'

const FLAGS: FlagSpecs = {
  mine: { kind: 'switch', describe: 'Only your own requests' },
  'to-decide': { kind: 'switch', describe: 'Only requests of others that wait and that you may decide' },
}

/** Rows with the name of the requester beside the end of its id. A server of an earlier version has no sentence with names. */
function namedRequests(rows: readonly unknown[]): readonly unknown[] {
  return rows.map((row) => ({
    ...(row as object),
    action: { sentence: memberOf(row, 'action.summary'), ...(memberOf(row, 'action') as object) },
    requested_by: beside(memberOf(row, 'requested_by'), memberOf(row, 'requested_by_name')),
  }))
}

/** The derived list, with words for the two questions that people have, and the names that the server gives beside ids. */
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
      await perform(await changedForPeople(session, namedRequests), { operation }, plain(given))
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
