import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { printedCurl } from '../authz/question.ts'
import type { Command } from '../../argv/command.ts'
import { targetsOf } from '../../derive/input.ts'
import { expectedOf, viewOf } from '../../derive/perform.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { memberOf } from '../../output/members.ts'
import { bindingCommand, bindingPlan } from './place.ts'

/** Tests bindings one after the other; one that fails makes the exit code a negative answer. */
export function testBinding(manifest: Manifest): Command {
  const command = bindingCommand(manifest, 'PostAdminIdPTest', async (session, given) => {
    const plan = bindingPlan(session, 'PostAdminIdPTest', given)
    const targets = await targetsOf(session, plan, given)
    await session.assertEmittable(expectedOf(plan.operation))
    const caller = await session.caller()
    let failed = false
    for (const { input, object } of targets) {
      if (await printedCurl(session, plan.operation, input)) continue
      const { value } = await caller.call(plan.operation, input)
      if (targets.length > 1) session.note(`${object?.label ?? ''}:`)
      await session.emit(value, viewOf(plan.operation))
      failed ||= memberOf(value, 'passed') !== true
    }
    return failed ? EXIT.negative : EXIT.ok
  })
  return {
    ...command,
    description:
      'Asks the issuer for what a sign-in needs, in order: discovery, endpoints, keys, algorithms, an authorization request, and whether it takes the client. Nobody is signed in. Exits 10 when a step fails, and says what to mend.',
    examples: ['ctl idp test google', 'ctl idp test sso --scope platform -o json'],
  }
}
