import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { targetsOf } from '../../derive/input.ts'
import { perform } from '../../derive/perform.ts'
import { isScreen } from '../../output/screen.ts'
import { operationOf } from '../../session/noun-lists.ts'
import type { Rollout } from './answers.ts'
import { rolloutLines } from './picture.ts'

/** Shows rollouts on a screen each; in other formats as the API answers them. */
export function show(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetRollout')
  return {
    ...derivedCommand(operation, manifest),
    description: 'Its plan, its state, and a bar for each wave. Node by node: ctl rollouts nodes NAME',
    examples: ['ctl rollouts show r1', 'ctl rollouts show r1 -o yaml', "ctl rollouts show r1 --jq '.progress[]'"],
    async run(session, given) {
      if (session.shared.curl === true || !(await isScreen(session))) return perform(session, { operation }, given)
      const caller = await session.caller()
      const { io, style } = session
      const pictures: string[] = []
      for (const { input } of await targetsOf(session, { operation }, given)) {
        const { value } = await caller.call(operation, input)
        const canvas = { style, columns: io.stdout.columns, nowMs: io.nowMs() }
        pictures.push(`${rolloutLines(value as Rollout, canvas).join('\n')}\n`) // What the contract says of 200.
      }
      io.stdout.write(pictures.join('\n'))
      return undefined
    },
  }
}
