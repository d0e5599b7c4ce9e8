import { usageError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { defineCommand } from '../../argv/command.ts'
import { counted, namedSome } from '../../output/counts.ts'
import type { View } from '../../output/emit.ts'
import { isText } from '../../output/screen.ts'
import { harmless } from '../../output/style.ts'
import { printedCurl } from '../authz/question.ts'
import type { Session } from '../../session/session.ts'
import type { PolicyPreview } from './answers.ts'
import { FILES, namesIn, nodeNames, policiesOf, previewOf } from './preview-request.ts'
import { domainOf } from './reading.ts'
import { failureText } from './sentences.ts'

const CHANGES: View = {
  columns: ['change', 'from', 'to'],
  wide: ['from_node_id', 'to_node_id'],
  members: ['change', 'from', 'to', 'from_node_id', 'to_node_id'],
}

/** Shows what policies in files would change. */
export const preview = defineCommand({
  description: [
    'A policy of a file is created, or replaces the stored one of its slug; one with delete: true would be deleted. Nothing is changed.',
    'Lists pairs of nodes between which a port or protocol is open afterwards and not now (gained), or now and not afterwards (lost; a pair may be both); and tests that would fail.',
    'Exits 10 if a pair is gained or lost, or a test would fail, and 0 if nothing changes.',
  ].join('\n'),
  args: [{ name: 'file', describe: 'Policy file, - for stdin', many: true }],
  flags: FILES,
  uses: ['connection', 'curl', 'output'],
  examples: ['ctl policies preview db-in.yaml', 'ctl policies preview policies/*.yaml -o json'],
  async run(session, { args, flags }) {
    const references = [...(flags.file ?? []), ...args]
    if (references.length === 0) throw usageError('which files?', 'ctl policies preview FILE')
    const files = await policiesOf(session, references)
    const input = async () => ({ id: await domainOf(session), body: { policies: files.map(({ members }) => members) } })
    if (session.shared.curl === true) {
      await printedCurl(session, session.operation('PreviewPolicies'), await input())
      return EXIT.ok
    }
    const found = await previewOf(session, files)
    if (await isText(session)) await session.emit(rowsOf(found), CHANGES)
    else await session.emit(found, { columns: [], rows: 'policies' })
    await say(session, found)
    const { gained, lost, failures } = found
    return gained.count + lost.count + failures.length > 0 ? EXIT.negative : EXIT.ok
  },
})

function rowsOf({ gained, lost }: PolicyPreview): readonly object[] {
  return [
    ...gained.sample.map((pair) => ({ change: 'gained', ...pair })),
    ...lost.sample.map((pair) => ({ change: 'lost', ...pair })),
  ]
}

async function say(session: Session, found: PolicyPreview): Promise<void> {
  const { policies, gained, lost, failures, vacuous } = found
  const note = (line: string): void => session.note(harmless(line))
  for (const { slug, matched_count: count, sample } of policies) {
    const names = sample.map(({ name }) => name)
    const more = count > names.length ? ' …' : ''
    note(`${slug} matches ${counted(count, 'node')}${count === 0 ? '' : `: ${namedSome(names)}${more}`}.`)
  }
  sayVacuous(session, vacuous)
  const names = await nodeNames(
    session,
    failures.flatMap(({ from_node_id: from, to_node_id: to }) => [from, to]),
    namesIn(found),
  )
  for (const failure of failures) {
    const text = failureText(failure, names(failure.from_node_id), names(failure.to_node_id))
    session.warn(harmless(`test ${failure.test + 1} of ${failure.policy} would fail: ${text}`))
  }
  const shown = gained.count > gained.sample.length || lost.count > lost.sample.length ? ' Not all are shown.' : ''
  note(`${counted(gained.count, 'pair')} gained, ${lost.count} lost.${shown} Nothing was changed.`)
}

/** Warns of tests that say nothing. */
export function sayVacuous(session: Session, vacuous: PolicyPreview['vacuous']): void {
  for (const { policy, test, selector } of vacuous)
    session.warn(harmless(`test ${test + 1} of ${policy} says nothing: no node matches ${selector}`))
}
