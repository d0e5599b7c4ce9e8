import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Edit } from '../authz/impact-answer.ts'
import { previewableCommand } from '../authz/previewable.ts'
import type { Command } from '../../argv/command.ts'
import type { Target } from '../../derive/plan.ts'
import { memberOf } from '../../output/members.ts'
import type { Session } from '../../session/session.ts'
import { operationOf } from '../../session/noun-lists.ts'

export function deleteGroup(manifest: Manifest): Command {
  return previewableCommand(manifest, {
    operation: operationOf(manifest, 'DeleteGroup'),
    examples: ['ctl groups delete ops', 'ctl groups delete ops --dry-run'],
    editsOf: lostMemberships,
  })
}

/** What its members have through a group is what its deletion takes. */
async function lostMemberships({ input }: Target, session: Session): Promise<readonly Edit[]> {
  const { value } = await (await session.caller()).call(session.operation('GetGroup'), input)
  const members = memberOf(value, 'members')
  return (Array.isArray(members) ? members : []).map((subject: unknown) => ({
    kind: 'membership',
    op: 'delete',
    group: `group:${String(input['group_id'])}`,
    subject,
  }))
}
