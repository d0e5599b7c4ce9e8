import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { targetsOf } from '../../derive/input.ts'
import { perform } from '../../derive/perform.ts'
import { isScreen } from '../../output/screen.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { releaseLines, type Release } from './release-lines.ts'

/** Shows releases with their checksums; in other formats as the API answers them. */
export function show(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetPlexdArtifact')
  return {
    ...derivedCommand(operation, manifest),
    description:
      'Whether it may be installed, who signed it or why it is not verified, and the checksum of each architecture.',
    examples: ['ctl artifacts show 1.5.0', "ctl artifacts show 1.5.0 --jq '.architectures[]'"],
    async run(session, given) {
      if (session.shared.curl === true || !(await isScreen(session))) return perform(session, { operation }, given)
      const caller = await session.caller()
      const shown: string[] = []
      for (const { input } of await targetsOf(session, { operation }, given)) {
        const { value } = await caller.call(operation, input)
        shown.push(`${releaseLines(value as Release, session.style).join('\n')}\n`) // What the contract says of 200.
      }
      session.io.stdout.write(shown.join('\n'))
      return undefined
    },
  }
}
