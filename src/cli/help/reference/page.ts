import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command, CommandRow } from '../../argv/command.ts'
import { EXIT_MEANINGS } from '../../errors/exit-code.ts'
import { EVERYWHERE, SHARED, type FlagSpecs } from '../../argv/flags.ts'
import { argumentName, argumentText, flagEntry, usageLine } from '../help.ts'
import { commandRows } from '../../argv/registry.ts'
import { sectionsOf } from '../sections.ts'
import { GUIDE } from './guide.ts'

/** `docs/cli.md`: how the command line behaves, and every command with its arguments and flags. */
export async function commandPage(manifest: Manifest): Promise<string> {
  const rows = commandRows(manifest).filter(({ hidden }) => hidden !== true)
  const blocks: string[] = []
  for (const { title, nouns } of sectionsOf(manifest, [...new Set(rows.map(({ words }) => nounOf(words)))])) {
    const own = rows.filter(({ words }) => nouns.includes(nounOf(words)))
    if (own.length === 0) continue
    blocks.push(`## ${title}`)
    for (const row of inOrder(own, nouns)) blocks.push(commandBlock(row, await row.load(manifest)))
  }
  return `${[GUIDE, exitCodes(), sharedFlags(), ...blocks].join('\n\n')}\n`
}

function nounOf(words: string): string {
  return words.split(' ')[0] ?? ''
}

function inOrder(rows: readonly CommandRow[], nouns: readonly string[]): readonly CommandRow[] {
  const place = ({ words }: CommandRow): number => nouns.indexOf(nounOf(words))
  return rows.toSorted((one, other) => place(one) - place(other))
}

function commandBlock(row: CommandRow, command: Command): string {
  const { description, examples = [] } = command
  const usage = command.raw === true ? `ctl ${row.words} [flags]` : usageLine(row.words, command)
  const blocks = [
    `### ctl ${row.words}`,
    `${row.summary}.`,
    description ?? '',
    fenced([usage]),
    argumentTable(command),
    flagTable(command),
    sharedLine(command),
    examples.length > 0 ? fenced(examples) : '',
  ]
  return blocks.filter((block) => block !== '').join('\n\n')
}

function argumentTable({ args = [] }: Command): string {
  if (args.length === 0) return ''
  const rows = args.map((argument) => [`\`${argumentName(argument)}\``, argumentText(argument)])
  return table(['argument', 'what it is'], rows)
}

function flagTable({ flags = {} }: Command): string {
  const own = Object.entries(flags).filter(([, { hidden }]) => hidden !== true)
  return own.length === 0 ? '' : table(['flag', 'what it does'], own.map(flagRow))
}

function sharedLine({ uses = [], asks }: Command): string {
  const groups = uses.filter((group) => group !== 'confirm' || asks === true)
  return groups.length === 0 ? '' : `Shared flags: ${groups.map((group) => `[${group}](#${group})`).join(', ')}.`
}

function flagRow(flag: Parameters<typeof flagEntry>[0]): readonly [string, string] {
  const [name, text] = flagEntry(flag)
  return [`\`${name.trim()}\``, text]
}

function exitCodes(): string {
  const rows = EXIT_MEANINGS.map(({ code, meaning }) => [String(code), meaning] as const)
  return `## Exit codes\n\n${table(['code', 'meaning'], rows)}`
}

const GROUPS: readonly { readonly title: string; readonly specs: FlagSpecs }[] = [
  { title: 'everywhere', specs: EVERYWHERE },
  ...Object.entries(SHARED).map(([title, specs]) => ({ title, specs })),
]

function sharedFlags(): string {
  const blocks = GROUPS.map(({ title, specs }) => {
    const rows = Object.entries(specs).map(flagRow)
    return `### ${title}\n\n${table(['flag', 'what it does'], rows)}`
  })
  return ['## Shared flags', ...blocks].join('\n\n')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function escaped(cell: string): string {
  const text = cell.replaceAll('|', '\\|')
  return text.startsWith('`') ? text : text.replaceAll('<', '&lt;').replaceAll('*', '\\*')
}

function fenced(lines: readonly string[]): string {
  return ['```', ...lines, '```'].join('\n')
}
