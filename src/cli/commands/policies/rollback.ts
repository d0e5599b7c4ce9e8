import { usageError } from '../../errors/cli-error.ts'
import { defineCommand } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { placeFlag } from '../../derive/places.ts'
import { perform } from '../../derive/perform.ts'
import { namedPolicy, revisionHeader, revisionOf } from './reading.ts'

const FLAGS = {
  to: {
    kind: 'integer',
    value: 'REVISION',
    describe: 'Number of the revision to return to; the one before the newest when absent',
  },
  domain: placeFlag('domains'),
} as const satisfies FlagSpecs

/** Makes a new revision of a policy out of an older one. */
export const rollback = defineCommand({
  description:
    'The older revision is copied to a new one, so that nothing is lost. See the revisions with: ctl policies revisions NAME',
  args: [{ name: 'policy', describe: 'Policy', noun: 'policies', required: true }],
  flags: FLAGS,
  uses: ['connection', 'curl', 'output', 'confirm'],
  examples: ['ctl policies rollback db-in', 'ctl policies rollback db-in --to 3'],
  async run(session, { args: [text], flags }) {
    if (text === undefined) throw usageError('<policy> is missing', 'See: ctl policies rollback --help')
    const policy = await namedPolicy(session, text, flags)
    const revision = await revisionOf(session, policy, flags.to ?? policy.revision - 1)
    const headers = revisionHeader(policy, undefined)
    const given = { args: [policy.id], flags: { 'revision-id': revision.revision_id } }
    return perform(session, { operation: session.operation('RollbackPolicy'), headers }, given)
  },
})
