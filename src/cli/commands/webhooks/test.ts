import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { memberOf } from '../../output/members.ts'
import { operationOf } from '../../session/noun-lists.ts'

/** `webhooks test`: the derived command, which says what failed and whose exit code tells scripts. */
export function test(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'TestWebhook')
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    description: [
      'Sends one message of the type ctl.test now and waits at most 15 s for the answer. It is not sent again.',
      'Exits 0 when the endpoint took it and 10 when it did not. A disabled webhook can be tested before it is enabled.',
    ].join('\n'),
    examples: ['ctl webhooks test https://hooks.acme.example/ctl'],
    async run(session, given) {
      const [{ perform }, { createFailures }] = await Promise.all([
        import('../../derive/perform.ts'),
        import('../../derive/failures.ts'),
      ])
      const reasons: string[] = []
      const settled = async (value: unknown): Promise<void> => {
        if (memberOf(value, 'state') !== 'delivered') reasons.push(reasonOf(value))
      }
      const plan = { operation, settled, failures: createFailures(session, 'webhooks test') }
      const code = await perform(session, plan, given)
      for (const reason of reasons) session.warn(reason)
      return reasons.length > 0 ? EXIT.negative : code
    },
  }
}

function reasonOf(delivery: unknown): string {
  const failure = memberOf(delivery, 'last_failure')
  return typeof failure === 'string' ? failure : 'The server was stopped before the endpoint answered; test again.'
}
