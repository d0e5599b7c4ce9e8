import type { Manifest } from '../../shared/contract/manifest-format.ts'
import type { CommandRow } from '../argv/command.ts'
import { joined, section, type Entry, type Layout } from './layout.ts'
import { commandRows } from '../argv/registry.ts'
import { sectionsOf } from './sections.ts'

const EXAMPLES: readonly Entry[] = [
  ['ctl serve', 'run a server here, storage included'],
  ['ctl login', 'sign in with a code that you approve in a browser'],
  ['ctl nodes list', 'what is in the fleet, and in reach'],
  ["ctl nodes list --jq '.items[].id'", 'the same for a script'],
]

/** `ctl --help`: everything by section. Reads no more than it prints, since it is asked for often. */
export function rootHelp(manifest: Manifest, layout: Layout): string {
  const { style } = layout
  const entries = nounEntries(commandRows(manifest))
  const blocks = sectionsOf(manifest, [...entries.keys()]).map(({ title, nouns }) =>
    section(
      title,
      nouns.flatMap((noun) => entryOf(noun, entries)),
      layout,
    ),
  )
  return joined([
    ['Run and drive the control plane of an encrypted mesh of nodes.'],
    [`${style.bold('Usage')}  ctl <command> [flags]`],
    ...blocks,
    section('Examples', EXAMPLES, layout),
    [
      'More on a command: ctl <command> --help',
      'On flags that many share: ctl help flags',
      'On exit codes: ctl help exit-codes',
    ],
  ])
}

/** Each noun with its verbs, or with its summary where it is a command itself. */
function nounEntries(rows: readonly CommandRow[]): ReadonlyMap<string, string> {
  const verbs = new Map<string, Set<string>>()
  const summaries = new Map<string, string>()
  for (const { words, summary, hidden } of rows) {
    const [noun = '', verb] = words.split(' ')
    if (hidden === true) continue
    if (verb === undefined) summaries.set(noun, summary)
    else verbs.set(noun, (verbs.get(noun) ?? new Set<string>()).add(verb))
  }
  return new Map([...[...verbs].map(([noun, words]) => [noun, [...words].join(', ')] as const), ...summaries])
}

function entryOf(noun: string, entries: ReadonlyMap<string, string>): readonly Entry[] {
  const text = entries.get(noun)
  return text === undefined ? [] : [[noun, text]]
}
