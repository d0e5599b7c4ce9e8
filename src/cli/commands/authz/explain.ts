import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { asTyped } from '../../errors/npx-command-hints.ts'
import type { ExplainedCheck } from './explanation.ts'
import { reportLines, type Report } from './explanation-report.ts'
import { referencesIn, strokesFor } from './explanation-lines.ts'
import { namesOf, naming, type Naming } from './naming.ts'
import { answerTo, printedCurl } from './question.ts'
import { TRIPLE, tripleOf, type Triple } from './triple.ts'
import type { Command } from '../../argv/command.ts'
import { EXIT } from '../../errors/exit-code.ts'
import type { Resolver } from '../../session/references.ts'
import { isScreen } from '../../output/screen.ts'
import type { Session } from '../../session/session.ts'
import { operationOf } from '../../session/noun-lists.ts'

export function explain(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'PostAuthzExplain')
  return {
    ...TRIPLE,
    description: [
      'Shows the branch that granted; or each branch that failed, and the commands with which somebody who may could allow it.',
      'What you may not see is left out of both. Exits 0 when allowed and 10 when denied, as ctl authz check does. -o wide shows ids in place of names.',
    ].join('\n'),
    examples: [
      'ctl authz explain me deploy project:web',
      'ctl authz explain user:alice node-operate node:web-1 -o json',
    ],
    async run(session, given) {
      const { body, resolver } = await tripleOf(session, given, 'authz explain')
      if (await printedCurl(session, operation, { body })) return EXIT.ok
      // The server validates its answers against this very operation.
      const answer = (await answerTo(session, operation, body)) as ExplainedCheck
      if (await isScreen(session)) await show(session, { answer, asked: body }, resolver)
      else await session.emit(answer, { columns: [] })
      return answer.decision === 'allowed' ? EXIT.ok : EXIT.negative
    },
  }
}

interface Explained {
  readonly answer: ExplainedCheck
  readonly asked: Triple
}

async function show(session: Session, { answer, asked }: Explained, resolver: Resolver): Promise<void> {
  const proposed = answer.remedies.flat().flatMap(({ subject, resource }) => [subject, resource])
  const references = [asked.subject, asked.resource, ...referencesIn(answer.tree), ...proposed]
  const names = await namesFor(session, resolver, references)
  const report: Report = {
    ...answer,
    asked,
    drawing: { naming: names.shown, style: session.style, strokes: strokesFor(session.io) },
    commands: names.typed,
  }
  session.io.stdout.write(
    reportLines(report)
      .map((line) => `${asTyped(line, session.io)}\n`)
      .join(''),
  )
}

/** The caller's own name, which it may know without being allowed to list identities. */
async function ownName(session: Session): Promise<ReadonlyMap<string, string>> {
  const { subject, display_name: name } = await session.whoami()
  const id = String(subject).split(':')[1]
  return new Map(id === undefined || typeof name !== 'string' || name === '' ? [] : [[id, name]])
}

/** Names as people say them; commands may say them even where ids are shown. */
async function namesFor(
  session: Session,
  resolver: Resolver,
  references: readonly string[],
): Promise<{ readonly shown: Naming; readonly typed: Naming }> {
  const { output } = await session.settings()
  const typed = await namesOf(resolver, references, { known: await ownName(session) })
  return { shown: output.value === 'wide' ? naming(new Map()) : typed, typed }
}
