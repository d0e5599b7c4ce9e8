import type { Command, CommandRow } from '../argv/command.ts'
import {
  EVERYWHERE,
  SHARED,
  type ArgumentSpec,
  type FlagSpec,
  type FlagSpecs,
  type SharedGroup,
  valueName,
} from '../argv/flags.ts'
import { joined, section, wrapped, type Entry, type Layout } from './layout.ts'
import type { Branch } from '../argv/tree.ts'

/** Help of a noun: its verbs. */
export function branchHelp(branch: Branch, layout: Layout): string {
  const entries = leaves(branch).map(({ words, summary }): Entry => [words.slice(branch.words.length + 1), summary])
  return joined([
    [`${layout.style.bold('Usage')}  ctl ${branch.words} <command> [flags]`],
    section('Commands', entries, layout),
    [`More on one: ctl ${branch.words} <command> --help`],
  ])
}

/** The visible commands below a branch, itself left out. */
function leaves(branch: Branch): readonly CommandRow[] {
  return [...branch.children.values()].flatMap((child) => [
    ...(child.row && child.row.hidden !== true ? [child.row] : []),
    ...leaves(child),
  ])
}

/** Help of one command: its own flags in full, the shared ones that everybody knows by name. */
export function commandHelp(branch: Branch, command: Command, layout: Layout): string {
  const { style } = layout
  const argumentEntries = (command.args ?? []).map((one): Entry => [argumentName(one), argumentText(one)])
  return joined([
    [branch.row?.summary ?? ''],
    command.description === undefined ? [] : wrapped(command.description, layout.columns),
    usageLines(branch, command).map((line, index) => `${index === 0 ? style.bold('Usage') : '     '}  ${line}`),
    section('Arguments', argumentEntries, layout),
    section('Flags', ownFlags(command).map(flagEntry), layout),
    section('Output', sharedFlags(command, ['output']).map(flagEntry), layout),
    namedFlags(command, layout),
    command.examples && command.examples.length > 0
      ? [style.bold('Examples'), ...command.examples.map((example) => `  ${example}`)]
      : [],
    section(
      'Commands',
      leaves(branch).map(({ words, summary }): Entry => [`ctl ${words}`, summary]),
      layout,
    ),
  ])
}

/** How a command is called, and those below it where there are any. */
function usageLines(branch: Branch, command: Command): readonly string[] {
  const own = usageLine(branch.words, command)
  return leaves(branch).length === 0 ? [own] : [own, `ctl ${branch.words} <command> [flags]`]
}

type Flag = readonly [name: string, spec: FlagSpec]

/** The flags that are explained with the command: its own, and shared ones that change what it does. */
function ownFlags(command: Command): readonly Flag[] {
  const asks = command.asks === true ? (['confirm'] as const) : []
  return [...entriesOf(command.flags ?? {}), ...sharedFlags(command, [...asks, 'list', 'watch'])].filter(
    ([, { hidden }]) => hidden !== true,
  )
}

function sharedFlags(command: Command, groups: readonly SharedGroup[]): readonly Flag[] {
  return groups.filter((group) => command.uses?.includes(group)).flatMap((group) => entriesOf(SHARED[group]))
}

function entriesOf(specs: FlagSpecs): readonly Flag[] {
  return Object.entries(specs)
}

function namedFlags(command: Command, { style, columns }: Layout): readonly string[] {
  const quiet = command.asks === true ? [] : (['confirm'] as const)
  const flags = [...sharedFlags(command, ['connection', 'curl', ...quiet]), ...entriesOf(EVERYWHERE)]
  const names = flags.map(([name]) => `--${name}`).join(' ')
  const lines = wrapped(names, columns - 2).map((line) => `  ${line}`)
  return [`${style.bold('Shared')} (ctl help flags)`, ...lines]
}

/** `ctl nodes show <node>... [flags]`. */
export function usageLine(words: string, command: Command): string {
  const required = entriesOf(command.flags ?? {}).filter(([, spec]) => spec.required === true)
  const args = (command.args ?? []).map((one) =>
    one.required === false ? `[${argumentName(one)}]` : argumentName(one),
  )
  return ['ctl', words, ...args, ...required.map(([name, spec]) => `--${name} ${valueName(spec)}`), '[flags]'].join(' ')
}

/** `<node>...`. */
export function argumentName({ name, many }: ArgumentSpec): string {
  return `<${name}>${many === true ? '...' : ''}`
}

/** What an argument is, and the ways of naming it. */
export function argumentText({ describe, noun, many }: ArgumentSpec): string {
  if (noun === undefined || NO_OBJECTS.has(noun)) return describe
  if (noun === 'subjects') return 'Who: user:NAME, service:NAME or group:NAME, an id in place of the name, or me'
  if (noun === 'objects')
    return 'On what: platform, domain:NAME, project:NAME, node:NAME, …, or an id in place of the name'
  if (noun === 'tuples')
    return `${describe}: as files have it, project:NAME#ROLE@SUBJECT, its id, or 6 or more digits of either end of that${many === true ? '; - reads them from stdin' : ''}`
  return `${describe}: ${WAYS[noun] ?? `name, ${BY_ID}`}${many === true ? '; - reads them from stdin' : ''}`
}

/** Nouns that completion knows and that no name or id stands for. */
const NO_OBJECTS: ReadonlySet<string> = new Set(['selectors', 'label-keys', 'label-values'])

const BY_ID = 'id, or 6 or more digits of either end of it'

/** How objects are named that have more ways than a name and an id, or fewer. */
const WAYS: Readonly<Record<string, string>> = {
  contexts: 'name',
  sessions: BY_ID,
  identities: `user:NAME, service:NAME, me, name, ${BY_ID}`,
}

/** A flag and its text, as help and the reference print them. */
export function flagEntry([name, spec]: Flag): Entry {
  const short = spec.short === undefined ? '    ' : `-${spec.short}, `
  const value = valueName(spec)
  const joint = spec.kind === 'optional' ? `[=${value}]` : ` ${value}`
  return [`${short}--${name}${value === '' ? '' : joint}`, flagText(spec)]
}

/** What a flag does, its choices and what holds without it. */
export function flagText({ describe, choices, fallback, also, required }: FlagSpec): string {
  const parts = [
    ...(required === true ? ['required'] : []),
    ...(choices && choices.length > 0 ? [choices.join(' | ')] : []),
    ...(fallback === undefined ? [] : [`default ${fallback}`]),
    ...(also === undefined ? [] : [`also ${also}`]),
  ]
  return parts.length === 0 ? describe : `${describe} (${parts.join('; ')})`
}
