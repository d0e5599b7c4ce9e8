import { specsOf } from '../argv/flags.ts'
import type { Command } from '../argv/command.ts'
import { EVERYWHERE, type FlagSpec } from '../argv/flags.ts'
import { growTree, type Branch } from '../argv/tree.ts'
import { commandRows } from '../argv/registry.ts'
import type { Manifest } from '../../shared/contract/manifest-format.ts'

/** A place of the command tree as completion needs it. */
export interface Place {
  /** Words so far; empty at the root. */
  readonly path: string
  readonly children: readonly { readonly word: string; readonly summary: string }[]
  readonly flags: readonly OutlinedFlag[]
  /** Words that the first argument may be. */
  readonly choices: readonly string[]
  /** Its arguments name objects that `ctl __complete` can list. */
  readonly names: boolean
}

export interface OutlinedFlag {
  readonly name: string
  readonly short: string | undefined
  readonly describe: string
  readonly takesValue: boolean
  readonly choices: readonly string[]
  /** The value is a file. */
  readonly isFile: boolean
  /** The value names an object that `ctl __complete` can list. */
  readonly names: boolean
}

/** The whole command line, place by place, the root first. */
export async function outline(manifest: Manifest): Promise<readonly Place[]> {
  const places: Place[] = []
  await visit(growTree(commandRows(manifest)), manifest, places)
  return places
}

async function visit(branch: Branch, manifest: Manifest, places: Place[]): Promise<void> {
  const command = await branch.row?.load(manifest)
  const visible = [...branch.children].filter(([, child]) => child.row?.hidden !== true)
  places.push({
    path: branch.words,
    children: visible.map(([word, child]) => ({ word, summary: child.row?.summary ?? verbsOf(child) })),
    flags: flagsOf(command),
    choices: command?.args?.[0]?.choices ?? [],
    names: command?.args?.some(({ noun }) => noun !== undefined) ?? false,
  })
  for (const [, child] of visible) await visit(child, manifest, places)
}

function verbsOf(branch: Branch): string {
  return [...branch.children.keys()].join(', ')
}

function flagsOf(command: Command | undefined): readonly OutlinedFlag[] {
  const specs =
    command === undefined
      ? EVERYWHERE
      : command.raw === true
        ? { ...command.flags, help: EVERYWHERE.help }
        : specsOf(command)
  return Object.entries(specs)
    .filter(([, { hidden }]) => hidden !== true)
    .map(([name, spec]: [string, FlagSpec]) => ({
      name,
      short: spec.short,
      describe: spec.describe,
      takesValue: spec.kind !== 'switch' && spec.kind !== 'optional',
      choices: spec.choices ?? [],
      isFile: spec.value === 'FILE',
      names: spec.noun !== undefined,
    }))
}
