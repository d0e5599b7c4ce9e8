import type { Given } from '../../argv/command.ts'
import { usageError } from '../../errors/cli-error.ts'

/** The id of an event given with `--since`; undefined without. @throws CliError (usage) where it is no whole number. */
export function sinceOf({ flags }: Given): string | undefined {
  const since = flags['since']
  if (since === undefined) return undefined
  if (typeof since === 'string' && /^\d{1,20}$/.test(since)) return since
  throw usageError('--since takes the id of an event, a whole number')
}
