import { usageError } from '../errors/cli-error.ts'
import type { Session } from '../session/session.ts'

/** Throws a usage error where several pictures would go into one SVG file. */
export function assertOnePicture({ io, shared }: Session, format: string): void {
  if (shared.watch !== undefined && format === 'svg' && !io.stdout.isTty)
    throw usageError(
      '--watch writes one picture after the other, which is no SVG file',
      'Leave out --watch, or take -o json',
    )
}
