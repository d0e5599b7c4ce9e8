import type { Given } from '../../argv/command.ts'
import type { FlagSpec, FlagValue } from '../../argv/flags.ts'

export const CAVEAT: FlagSpec = {
  kind: 'text',
  value: 'NAME',
  describe: 'Counts only under this caveat: within_hours, from_network or strong_auth',
}

/** `--caveat NAME` as the API takes it. */
export function withCaveat({ caveat, ...flags }: Given['flags']): Readonly<Record<string, FlagValue>> {
  const given: Record<string, FlagValue> = {}
  for (const [name, value] of Object.entries(flags)) if (value !== undefined) given[name] = value
  if (typeof caveat === 'string') given['caveat-context'] = JSON.stringify({ caveat_name: caveat })
  return given
}
