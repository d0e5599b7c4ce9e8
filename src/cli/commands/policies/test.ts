import { EXIT } from '../../errors/exit-code.ts'
import { defineCommand } from '../../argv/command.ts'
import { counted } from '../../output/counts.ts'
import type { View } from '../../output/emit.ts'
import { isText } from '../../output/screen.ts'
import { rowsOfList } from '../clouds/reading.ts'
import type { Session } from '../../session/session.ts'
import type { Policy, PolicyPreview, TestFailure } from './answers.ts'
import { FILES, namesIn, nodeNames, policiesOf, previewOf } from './preview-request.ts'
import type { PolicyFile } from './documents.ts'
import { sayVacuous } from './preview.ts'
import { domainOf } from './reading.ts'
import { becauseOf } from './sentences.ts'

const COLUMNS = ['policy', 'test', 'expect', 'from', 'to', 'sender', 'receiver']
const FAILED: View = { columns: COLUMNS, wide: ['from_node_id', 'to_node_id'], members: COLUMNS }

/** Runs the tests of policies. */
export const test = defineCommand({
  description: [
    'Runs the tests of the files together with those of the stored policies, as if the files were stored; without a file, the stored ones. Nothing is changed.',
    'Prints each test that does not hold, with a pair of nodes that shows it and what decides at the sender and at the receiver. Exits 0 when all hold, 10 when one does not.',
    'A test whose selectors match no node says nothing: that is a warning.',
  ].join('\n'),
  args: [{ name: 'file', describe: 'Policy file, - for stdin', many: true, required: false }],
  flags: FILES,
  uses: ['connection', 'output'],
  examples: ['ctl policies test policies/*.yaml', 'ctl policies test', 'ctl policies test db-in.yaml -o json'],
  async run(session, { args, flags }) {
    const references = [...(flags.file ?? []), ...args]
    const files = references.length > 0 ? await policiesOf(session, references) : await oneStored(session)
    if (files.length === 0) {
      session.note('There are no policies to test.')
      return EXIT.ok
    }
    const found = await previewOf(session, files)
    const { failures, vacuous } = found
    const answer = { passed: failures.length === 0, failures, vacuous }
    const shown = (await isText(session)) ? { ...answer, failures: await named(session, found) } : answer
    if (failures.length > 0 || !(await isText(session))) await session.emit(shown, { ...FAILED, rows: 'failures' })
    sayVacuous(session, vacuous)
    session.note(failures.length === 0 ? 'All tests hold.' : `${counted(failures.length, 'test')} failed.`)
    return failures.length === 0 ? EXIT.ok : EXIT.negative
  },
})

/** A question needs a policy: any stored one as it is, so that nothing differs and all tests are run. */
async function oneStored(session: Session): Promise<readonly PolicyFile[]> {
  const policies = rowsOfList<Policy>(session, 'ListPolicies', { id: await domainOf(session) })
  for await (const { slug, display_name, selector, isolates, rules, tests } of policies)
    return [{ name: slug, members: { slug, display_name, selector, isolates, rules, tests }, revisionId: undefined }]
  return []
}

async function named(session: Session, found: PolicyPreview): Promise<readonly object[]> {
  const ids = found.failures.flatMap(({ from_node_id: from, to_node_id: to }) => [from, to])
  const names = await nodeNames(session, ids, namesIn(found))
  return found.failures.map((failure) => ({
    ...failure,
    test: failure.test + 1,
    from: names(failure.from_node_id),
    to: names(failure.to_node_id),
    ...reasons(failure),
  }))
}

function reasons({ egress, ingress }: TestFailure): object {
  return { ...(egress && { sender: becauseOf(egress) }), ...(ingress && { receiver: becauseOf(ingress) }) }
}
