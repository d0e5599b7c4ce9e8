import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { usageError } from '../../errors/cli-error.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { steppingUp } from '../../session/step-up.ts'
import { routedToDomain } from './domain-route.ts'
import { DOMAIN_FLAG, ofDomain } from './in-domain.ts'
import { openOnly } from './open-only.ts'

const WORDS = 'violations ack'

const FLAGS = {
  ...DOMAIN_FLAG,
  'no-browser': {
    kind: 'switch',
    describe:
      'Only show the address and the code where a sign-in is needed, open nothing; also where stdin is no terminal',
  },
  idp: { kind: 'text', value: 'ALIAS', describe: 'Identity provider for that sign-in; the primary one by default' },
} as const satisfies FlagSpecs

const DESCRIPTION = [
  'Says that somebody has looked at an open violation, why it is there and what was done. The reason is kept with your name.',
  'Where the policy of your Domain asks for a stronger or more recent sign-in, an address and a code are shown, as ctl login does; the command goes on once you have signed in there and approved the code, on any machine. That sign-in is for this command alone: its token is revoked as soon as the command ends, and the context stays as it is.',
].join('\n')

/** `violations ack`: the derived command, which has a person sign in where the server asks for it. */
export function acknowledge(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'AcknowledgeIntegrityViolation')
  const derived = derivedCommand(operation, manifest)
  // Each one is named: nobody has looked at everything that labels select.
  const { selector: _selector, project: _project, ...flags } = derived.flags ?? {}
  return {
    ...derived,
    description: DESCRIPTION,
    args: (derived.args ?? []).map((argument) => ({ ...argument, required: true })),
    flags: { ...flags, ...FLAGS },
    examples: [
      "ctl violations ack 7b21d4 --reason 'Hotfix 1.4.1 was rolled out by hand'",
      "ctl violations ack 7b21d4 90aa3c --no-browser --reason 'Reinstalled'",
    ],
    async run(session, { args, flags: { 'no-browser': isElsewhere, idp, ...typed } }) {
      assertReason(typed['reason'])
      const how = { words: WORDS, isElsewhere: isElsewhere === true, idp: textOf(idp) }
      const stepped = steppingUp(session, how)
      const [{ perform }, { createFailures }, { chooseOpen }] = await Promise.all([
        import('../../derive/perform.ts'),
        import('../../derive/failures.ts'),
        import('./choose-open.ts'),
      ])
      try {
        const { domain } = await session.settings()
        const plan = {
          operation: domain.value === undefined ? operation : ofDomain(manifest, operation),
          failures: createFailures(session, WORDS),
        }
        const routed = routedToDomain(stepped.session)
        const named = args.length === 0 && session.canAsk ? [await chooseOpen(routed)] : args
        return await perform(openOnly(routed), plan, { args: named, flags: typed })
      } finally {
        await stepped.end()
      }
    },
  }
}

/** A reason that was not typed is asked for. */
function assertReason(reason: unknown): void {
  if (typeof reason !== 'string' || reason.trim() !== '') return
  throw usageError('--reason is blank', 'Say what was found and what was done about it')
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
