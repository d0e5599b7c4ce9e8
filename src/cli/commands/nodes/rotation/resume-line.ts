import type { Given } from '../../../argv/command.ts'
import { quoted } from '../../../output/curl.ts'
import type { FlagSpec, FlagSpecs, FlagValue } from '../../../argv/flags.ts'

/** Flags of one call. The next one names every node, and asks the unreachable ones without a flag. */
const ONCE: ReadonlySet<string> = new Set(['since', 'dry-run', 'debug', 'trace', 'include-unreachable'])

/**
 * The command line that goes on where a run has stopped: what was typed, with `--since`. Nodes that were read from stdin are
 * named by `ids`, all of those that the run was about: `--since` leaves out what is done. Names that would be read as one of
 * `verbs` stand behind `--`.
 */
export function resumeLine(
  given: Given,
  specs: FlagSpecs,
  {
    since,
    ids,
    verbs,
  }: { readonly since: string; readonly ids: readonly string[]; readonly verbs: ReadonlySet<string> },
): string {
  const args = given.args.includes('-') ? ids : given.args
  const flags = Object.entries(given.flags).flatMap(([name, value]) => {
    const spec = specs[name]
    return spec === undefined || value === undefined || ONCE.has(name) ? [] : flagWords(name, spec, value)
  })
  const isMistaken = args.some((word) => verbs.has(word) || word.startsWith('-'))
  const [first, last] = isMistaken ? [[], ['--', ...args]] : [args, []]
  return ['ctl nodes rotate', ...first.map(quoted), ...flags, '--since', since, ...last.map(quoted)].join(' ')
}

function flagWords(name: string, { kind }: FlagSpec, value: FlagValue): readonly string[] {
  if (typeof value === 'boolean') return [value ? `--${name}` : `--no-${name}`]
  if (kind === 'duration') return [`--${name}`, `${String(value)}s`]
  return [`--${name}`, quoted(Array.isArray(value) ? value.join(',') : String(value))]
}
