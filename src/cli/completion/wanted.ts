import { isFlag, readFlags } from '../argv/argv.ts'
import type { Command } from '../argv/command.ts'
import { specsOf, type FlagSpec, type FlagSpecs, type FlagValue } from '../argv/flags.ts'
import { follow, type Branch } from '../argv/tree.ts'
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
  const before = words.slice(0, -1)
  const begun = words.at(-1) ?? ''
  const { branch, rest } = follow(root, before)
  const command = await branch.row?.load(manifest)
  if (command === undefined || command.raw === true) return undefined
  const typed = readLeniently(rest, specsOf(command))
  const { flags, open } = typed
  const place = open
    ? ofFlag(open, '', begun)
    : (ofJoined(begun, specsOf(command)) ?? ofArgument(command, typed, begun))
  return place && { ...place, flags }
}

interface Typed {
  readonly flags: Readonly<Record<string, FlagValue>>
  readonly count: number
  /** The flag whose value comes next. */
  readonly open: FlagSpec | undefined
}

/** Reads what a person has typed so far: what is not understood yet is passed over. */
function readLeniently(rest: readonly string[], specs: FlagSpecs): Typed {
  const flags: Record<string, FlagValue> = {}
  let count = 0
  for (let index = 0; index < rest.length;) {
    const word = rest[index] ?? ''
    if (!isFlag(word)) count += 1
    const found = isFlag(word) ? flagsAt(rest, index, specs) : []
    const open = found.find(({ consumed }) => index + consumed > rest.length)
    if (open) return { flags, count, open: open.spec }
    for (const { name, text } of found) flags[name] = text
    index += Math.max(
      1,
      found.reduce((sum, { consumed }) => sum + consumed, 0),
    )
  }
  return { flags, count, open: undefined }
}

/** A value that is missing stands at the end, so that its flag is read as any other. */
function flagsAt(rest: readonly string[], index: number, specs: FlagSpecs): ReturnType<typeof readFlags> {
  try {
    return readFlags(index === rest.length - 1 ? [...rest, ''] : rest, index, specs)
  } catch {
    return []
  }
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

function ofArgument({ args = [] }: Command, { count }: Typed, begun: string): Place | undefined {
  const last = args.at(-1)
  const spec = args[count] ?? (last?.many === true ? last : undefined)
  return spec?.noun === undefined ? undefined : { noun: spec.noun, kept: '', begun }
}
