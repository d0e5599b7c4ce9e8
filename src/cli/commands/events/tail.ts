import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import type { Command, Given } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import type { ExitCode } from '../../errors/exit-code.ts'
import type { Session } from '../../session/session.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { flagsBut, inputOf } from '../audit/chain-command.ts'
import { DOMAIN_ROWS } from './domain-rows.ts'
import { connecting, follow } from './follow.ts'
import { createFrameCheck } from './frame-check.ts'
import { createFramePrinter } from './frame-printer.ts'
import { sinceOf } from './since.ts'
import { openDomainVerifier } from './stream-verifiers.ts'

const FLAGS = {
  since: { kind: 'text', value: 'ID', describe: 'Begin after the event with this id' },
  verify: { kind: 'switch', describe: 'Check every signature; exit 10 when one is wrong' },
} as const satisfies FlagSpecs

/** Shows the events of a Domain as they come, until Ctrl-C. */
export function tail(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetDomainEvents')
  return {
    description: [
      'Shows what changes in a Domain as it happens, until Ctrl-C: what happened, and to which object.',
      'Begins with what comes from now on, or after --since. A connection that is lost is made again, and nothing is left out.',
      'One JSON line per event with -o json or jsonl, and where the output is no terminal.',
    ].join('\n'),
    flags: { ...flagsBut(operation, manifest, []), ...FLAGS },
    uses: ['connection', 'output'],
    examples: ['ctl events tail', 'ctl events tail --domain web --verify', 'ctl events tail --since 184467 -o jsonl'],
    run: (session, given) => run(session, operation, given),
  }
}

async function run(session: Session, operation: ManifestOperation, given: Given): Promise<ExitCode> {
  const since = sinceOf(given)
  const input = await inputOf(session, operation, given)
  const isVerifying = given.flags['verify'] === true
  const verifier = isVerifying ? await openDomainVerifier(session, String(input['domain_id'])) : undefined
  const printer = await createFramePrinter(session, DOMAIN_ROWS, { isVerifying })
  const connect = await connecting(session, operation, input)
  return follow({ session, connect, since, check: createFrameCheck(session, verifier), printer })
}
