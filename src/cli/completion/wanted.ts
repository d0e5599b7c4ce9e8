import { readBegun } from '../argv/command-line.ts'
import type { Command } from '../argv/command.ts'
import { specsOf, type FlagSpec, type FlagSpecs, type FlagValue } from '../argv/flags.ts'
import type { Branch } from '../argv/tree.ts'
import type { Manifest } from '../../shared/contract/manifest-format.ts'

/** What the word begun refers to, and what was typed before it. */
export interface Wanted {
  readonly noun: string
  /** What of the word is there already and stays, e.g. `--node=` or `web-1,`. */
  readonly kept: string
  /** What the names offered begin with. */
  readonly begun: string
  readonly flags: Readonly<Record<string, FlagValue>>
}

/** Finds out which objects the last of the words may name; undefined where it names none. */
export async function wantedBy(
  words: readonly string[],
  root: Branch,
  manifest: Manifest,
): Promise<Wanted | undefined> {
  const begun = words.at(-1) ?? ''
  const { command, flags, args, open } = await readBegun(words.slice(0, -1), root, manifest)
  if (command === undefined || command.raw === true) return undefined
  const place = open
    ? ofFlag(open, '', begun)
    : (ofJoined(begun, specsOf(command)) ?? ofArgument(command, args.length, begun))
  return place && { ...place, flags }
}

type Place = Omit<Wanted, 'flags'>

function ofFlag({ noun, kind }: FlagSpec, kept: string, begun: string): Place | undefined {
  if (noun === undefined) return undefined
  const comma = kind === 'list' ? begun.lastIndexOf(',') + 1 : 0
  return { noun, kept: kept + begun.slice(0, comma), begun: begun.slice(comma) }
}

/** `--node=we` */
function ofJoined(word: string, specs: FlagSpecs): Place | undefined {
  const [, name = '', value = ''] = /^--([\w-]+)=(.*)$/s.exec(word) ?? []
  const spec = Object.hasOwn(specs, name) ? specs[name] : undefined
  return spec && ofFlag(spec, `--${name}=`, value)
}

function ofArgument({ args = [] }: Command, count: number, begun: string): Place | undefined {
  const last = args.at(-1)
  const spec = args[count] ?? (last?.many === true ? last : undefined)
  return spec?.noun === undefined ? undefined : { noun: spec.noun, kept: '', begun }
}
