import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { asTyped } from '../../errors/npx-command-hints.ts'
import { answerTo, printedCurl } from './question.ts'
import { TRIPLE, tripleOf } from './triple.ts'
import type { Command, Given } from '../../argv/command.ts'
import { quoted } from '../../output/curl.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { memberOf } from '../../output/members.ts'
import { operationOf } from '../../session/noun-lists.ts'

export function check(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'PostAuthzCheck')
  return {
    ...TRIPLE,
    description:
      'Exits 0 when allowed and 10 when denied, so that scripts can ask. Subjects and objects may be named: user:alice, project:web; "me" is you. Why it comes out so: ctl authz explain.',
    examples: [
      'ctl authz check me manage domain:default',
      'ctl authz check user:alice node-operate node:web-1 && echo yes',
      'ctl authz check user:alice deploy project:web --facts now',
    ],
    async run(session, given) {
      const { body } = await tripleOf(session, given, 'authz check')
      if (await printedCurl(session, operation, { body })) return EXIT.ok
      const value = await answerTo(session, operation, body)
      await session.emit(value, { columns: ['decision', 'reason', 'relation_path'] })
      if (memberOf(value, 'decision') === 'allowed') return EXIT.ok
      const why = `Why: ctl authz explain ${[...given.args, ...factWords(given)].map(quoted).join(' ')}`
      if (session.io.stdout.isTty) session.note(asTyped(why, session.io))
      return EXIT.negative
    },
  }
}

function factWords({ flags: { facts } }: Given): readonly string[] {
  return Array.isArray(facts) && facts.length > 0 ? ['--facts', facts.join(',')] : []
}
