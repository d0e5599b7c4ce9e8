import { valueName } from './argv.ts'
import type { Command } from './command.ts'
import { EVERYWHERE, SHARED, type ArgumentSpec, type FlagSpec, type FlagSpecs, type SharedGroup } from './flags.ts'
import { displayWidth, padded } from './output/width.ts'
import { SECTIONS } from './sections.ts'
import type { Style } from './style.ts'
import type { Branch } from './tree.ts'

/** Help is wrapped to the terminal, but never into lines too long to read. */
const WIDEST = 100

interface Layout {
  readonly style: Style
  readonly columns: number
}

/** `ctl --help`. */
export function rootHelp(root: Branch, layout: Layout): string {
  const { style } = layout
  const listed = new Set(SECTIONS.flatMap(({ nouns }) => nouns))
  const sections = SECTIONS.map(({ title, nouns }) => ({
    title,
    nouns: nouns.length > 0 ? nouns : [...root.children.keys()].filter((noun) => !listed.has(noun)),
  }))
  const blocks = sections.flatMap(({ title, nouns }) => {
    const entries = nouns.flatMap((noun) => {
      const branch = root.children.get(noun)
      return branch && branch.row?.hidden !== true ? [[noun, outline(branch)] as const] : []
    })
    return entries.length === 0 ? [] : [[style.bold(title), ...entryLines(entries, layout)]]
  })
  return joined([
    ['Run and drive the control plane of an encrypted mesh of nodes.'],
    [`${style.bold('Usage')}  ctl <command> [flags]`],
    ...blocks,
    [
      style.bold('Examples'),
      '  ctl serve                                    run a server here, storage included',
      '  ctl login --with-token < bootstrap-token     sign in with a token from stdin',
      '  ctl nodes list                               what is in the fleet, and in reach',
      "  ctl nodes list -o json --jq '.items[].id'    the same for a script",
    ],
    ['Help on a command: ctl <command> --help. Exit codes: ctl help exit-codes.'],
  ])
}

/** What a noun offers: its own summary, or its verbs. */
function outline(branch: Branch): string {
  if (branch.row) return branch.row.summary
  return [...branch.children.values()]
    .filter(({ row }) => row?.hidden !== true)
    .map(({ words }) => words.split(' ').at(-1) ?? '')
    .join(', ')
}

/** Help of a noun: its verbs. */
export function branchHelp(branch: Branch, layout: Layout): string {
  const entries = leaves(branch).map(({ words, summary }) => [words.slice(branch.words.length + 1), summary] as const)
  return joined([
    [`${layout.style.bold('Usage')}  ctl ${branch.words} <command> [flags]`],
    [layout.style.bold('Commands'), ...entryLines(entries, layout)],
    [`Help on one: ctl ${branch.words} <command> --help`],
  ])
}

function leaves(branch: Branch): readonly { readonly words: string; readonly summary: string }[] {
  const below = [...branch.children.values()].flatMap((child) => [
    ...(child.row && child.row.hidden !== true ? [child.row] : []),
    ...leaves(child),
  ])
  return below
}

/** Help of one command. */
export function commandHelp(branch: Branch, command: Command, layout: Layout): string {
  const { style } = layout
  const own = Object.entries(command.flags ?? {})
  const shared = (groups: readonly SharedGroup[]): readonly (readonly [string, FlagSpec])[] =>
    groups.filter((group) => command.uses?.includes(group)).flatMap((group) => entriesOf(SHARED[group]))
  const argumentLines = (command.args ?? []).map((argument) => [argumentName(argument), argument.describe] as const)
  return joined([
    [branch.row?.summary ?? ''],
    ...(command.description === undefined ? [] : [wrapped(command.description, layout.columns)]),
    [`${style.bold('Usage')}  ${usageLine(branch.words, command)}`],
    section('Arguments', argumentLines, layout),
    section('Flags', [...own, ...shared(['confirm', 'list', 'watch'])].map(flagEntry), layout),
    section('Output', shared(['output']).map(flagEntry), layout),
    section('Connection', shared(['connection', 'curl']).map(flagEntry), layout),
    section('Everywhere', entriesOf(EVERYWHERE).map(flagEntry), layout),
    command.examples && command.examples.length > 0
      ? [style.bold('Examples'), ...command.examples.map((example) => `  ${example}`)]
      : [],
    childLines(branch, layout),
  ])
}

function childLines(branch: Branch, layout: Layout): readonly string[] {
  const entries = leaves(branch).map(({ words, summary }) => [words, summary] as const)
  return section('See also', entries, layout)
}

function entriesOf(specs: FlagSpecs): readonly (readonly [string, FlagSpec])[] {
  return Object.entries(specs)
}

/** `ctl nodes show <node>... [flags]`. */
export function usageLine(words: string, command: Command): string {
  const required = Object.entries(command.flags ?? {}).filter(([, spec]) => spec.required === true)
  return [
    'ctl',
    words,
    ...(command.args ?? []).map((argument) =>
      argument.required === false ? `[${argumentName(argument)}]` : argumentName(argument),
    ),
    ...required.map(([name, spec]) => `--${name} ${valueName(spec)}`),
    '[flags]',
  ].join(' ')
}

function argumentName({ name, many }: ArgumentSpec): string {
  return `<${name}>${many === true ? '...' : ''}`
}

/** A flag and its text, as help and the reference print them. */
export function flagEntry([name, spec]: readonly [string, FlagSpec]): readonly [string, string] {
  const short = spec.short === undefined ? '    ' : `-${spec.short}, `
  const value = valueName(spec)
  const shownValue = value === '' ? '' : spec.kind === 'optional' ? `[=${value}]` : ` ${value}`
  return [`${short}--${name}${shownValue}`, flagText(spec)]
}

/** What a flag does, its choices and what holds without it. */
export function flagText({ describe, choices, fallback, required }: FlagSpec): string {
  const parts = [
    ...(required === true ? ['required'] : []),
    ...(choices && choices.length > 0 ? [choices.join(' | ')] : []),
    ...(fallback === undefined ? [] : [`default ${fallback}`]),
  ]
  return parts.length === 0 ? describe : `${describe} (${parts.join('; ')})`
}

function section(title: string, entries: readonly (readonly [string, string])[], layout: Layout): readonly string[] {
  return entries.length === 0 ? [] : [layout.style.bold(title), ...entryLines(entries, layout)]
}

function entryLines(entries: readonly (readonly [string, string])[], { columns }: Layout): readonly string[] {
  const left = Math.min(34, Math.max(...entries.map(([name]) => displayWidth(name))))
  return entries.flatMap(([name, text]) => {
    const lines = wrapped(text, Math.min(columns, WIDEST) - left - 4)
    const [first = '', ...others] = lines
    const head =
      displayWidth(name) > left
        ? [`  ${name}`, `${' '.repeat(left + 4)}${first}`]
        : [`  ${padded(name, left)}  ${first}`]
    return [...head, ...others.map((line) => `${' '.repeat(left + 4)}${line}`)].map((line) => line.trimEnd())
  })
}

/** Text in lines of at most so many columns, broken between words. */
export function wrapped(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== undefined && displayWidth(last) + displayWidth(word) < Math.min(columns, WIDEST))
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

function joined(blocks: readonly (readonly string[])[]): string {
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`
}
