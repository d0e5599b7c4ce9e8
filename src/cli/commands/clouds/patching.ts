import { CliError } from '../../errors/cli-error.ts'
import type { Given } from '../../argv/command.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import { perform, viewOf } from '../../derive/perform.ts'
import { harmless } from '../../output/style.ts'
import type { Session } from '../../session/session.ts'
import type { BundledCloud, Cloud } from './reading.ts'
import { isBundled } from './reading.ts'

/** A change of one Cloud. */
export interface CloudChange {
  readonly cloud: Cloud
  /** By the flags of `clouds update`. */
  readonly flags: Given['flags']
  /** What was done, for stderr after success. */
  readonly done: string
}

/** Makes the change as `clouds update` does, with a sentence of its own. */
export async function patchCloud(session: Session, { cloud, flags, done }: CloudChange): Promise<ExitCode | void> {
  const { cli = { command: '' }, ...operation } = session.operation('PatchCloud')
  const { done: _usual, ...words } = cli
  const exitCode = await perform(session, { operation: { ...operation, cli: words } }, { args: [cloud.id], flags })
  session.note(harmless(done))
  return exitCode
}

/** Shows a Cloud that needs no change, as its change would, and says why. */
export async function showUnchanged(session: Session, cloud: Cloud, why: string): Promise<ExitCode> {
  await session.emit(cloud, { ...viewOf(session.operation('PatchCloud')), isChecked: false })
  session.note(harmless(`${why}; nothing was changed.`))
  return EXIT.ok
}

/** The Cloud, which takes its packages from a bundle. Throws a conflict for one with packages of its own. */
export function assertBundled(cloud: Cloud): BundledCloud {
  if (isBundled(cloud)) return cloud
  throw new CliError(`Cloud ${cloud.slug} has packages of its own, and no bundle`, {
    exitCode: EXIT.conflict,
    code: 'no_bundle',
    hints: [
      `Change its packages: ctl clouds inline ${cloud.slug} --package SOURCE@VERSION`,
      `Or give it a bundle: ctl clouds update ${cloud.slug} --bundle BUNDLE`,
    ],
  })
}

/** The one Cloud that a command line names. The parser has seen to it that there is at most one. */
export function cloudText([text]: readonly string[], words: string): string {
  if (text !== undefined) return text
  throw new CliError('<cloud> is missing', { exitCode: EXIT.usage, code: 'usage', hints: [`See: ctl ${words} --help`] })
}
