import type { ManifestOperation, Manifest } from '../../shared/contract/manifest-format.ts'
import type { Command, Given } from '../command.ts'
import { derivedCommand } from '../derive/derive.ts'
import type { Target } from '../derive/plan.ts'
import type { Session } from '../session.ts'
import type { Edit } from './impact.ts'
import { DRY_RUN } from './preview.ts'

/** A change that can be tried first. */
export interface Previewable {
  readonly operation: ManifestOperation
  readonly examples: readonly string[]
  /** The edits that a call comes to. */
  readonly editsOf: (target: Target, session: Session) => readonly Edit[] | Promise<readonly Edit[]>
  /** Changes what was typed before it is read. */
  readonly retyped?: (given: Given, session: Session) => Given | Promise<Given>
}

/** The command of an operation, with `--dry-run`. */
export function previewableCommand(manifest: Manifest, previewable: Previewable): Command {
  const { operation, examples, editsOf, retyped = (given: Given) => given } = previewable
  const command = derivedCommand(operation, manifest)
  return {
    ...command,
    flags: { ...command.flags, 'dry-run': DRY_RUN },
    uses: [...new Set([...(command.uses ?? []), 'output' as const])],
    examples: [...(command.examples ?? []), ...examples],
    async run(session, typed) {
      const given = await retyped(typed, session)
      if (given.flags['dry-run'] !== true)
        return (await import('../derive/perform.ts')).perform(session, { operation }, given)
      const [{ targetsOf }, { preview }, { createResolver }] = await Promise.all([
        import('../derive/input.ts'),
        import('./preview.ts'),
        import('../references.ts'),
      ])
      const targets = await targetsOf(session, { operation }, given)
      const edits: Edit[] = []
      for (const target of targets) edits.push(...(await editsOf(target, session)))
      return preview(session, edits, createResolver(session))
    },
  }
}
