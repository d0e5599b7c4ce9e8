import type { FlagSpec } from '../argv/flags.ts'

/** The flag of creations that a script may repeat. */
export const IF_NOT_EXISTS = 'if-not-exists'

export const ifNotExists: FlagSpec = {
  kind: 'switch',
  describe: 'If one with that name exists: change nothing, show it, exit 0',
}
