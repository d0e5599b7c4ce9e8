import { specNamed, type FlagSpec, type FlagSpecs } from './flags.ts'
import { valueMissing } from './mistakes.ts'

/** A flag by its name, as a word of the command line mentions it. */
export interface Mentioned {
  readonly name: string
  readonly spec: FlagSpec
}

/**
 * Writes flags so that commander reads them as this command line means them: an optional value is the flag's only when
 * joined (`--watch web-1` becomes `--watch= web-1`), a switch may have one (`--yes=false` becomes `--no-yes`), and so may
 * a letter (`-o=json` becomes `-ojson`). Leaves everything after `--` and after a command's word as it is. Throws a usage
 * error for a value of its own word that looks like a flag.
 */
export function joinedWords(
  words: readonly string[],
  specs: FlagSpecs,
  isCommand: (word: string) => boolean,
): readonly string[] {
  const joined: string[] = []
  let open: string | undefined
  for (const [index, word] of words.entries()) {
    if (open !== undefined) {
      if (/^--./.test(word)) throw valueMissing(shownFlag(open), specs)
      joined.push(word)
      open = undefined
      continue
    }
    if (word === '--' || isCommand(word)) return [...joined, ...words.slice(index)]
    joined.push(...joinedWord(word, specs))
    open = takesNext(word, specs) ? word : undefined
  }
  return joined
}

function takesNext(word: string, specs: FlagSpecs): boolean {
  const kind = lastFlag(word, specs)?.spec.kind
  return kind !== undefined && kind !== 'switch' && kind !== 'optional'
}

function joinedWord(word: string, specs: FlagSpecs): readonly string[] {
  const flag = lastFlag(word, specs)
  if (flag?.spec.kind === 'optional') {
    const switches = word.startsWith('--') ? '' : word.slice(1, -1)
    return [...(switches === '' ? [] : [`-${switches}`]), `--${flag.name}=`]
  }
  const [, name = '', value] = /^--([\w-]+)=(true|false)$/.exec(word) ?? []
  if (specNamed(specs, name)?.kind === 'switch') return [value === 'true' ? `--${name}` : `--no-${name}`]
  return [word.replace(/^-(\w)=/, '-$1')]
}

/** The flag that a word ends with: `--name`, `-n`, or the last letter behind those of switches, as in `-yn`. */
export function lastFlag(word: string, specs: FlagSpecs): Mentioned | undefined {
  if (word.startsWith('--')) {
    const spec = specNamed(specs, word.slice(2))
    return spec && { name: word.slice(2), spec }
  }
  if (!word.startsWith('-')) return undefined
  const letters = Array.from(word.slice(1), (letter) => lettered(letter, specs))
  return letters.slice(0, -1).every((flag) => flag?.spec.kind === 'switch') ? letters.at(-1) : undefined
}

function lettered(letter: string, specs: FlagSpecs): Mentioned | undefined {
  const [name, spec] = Object.entries(specs).find(([, { short }]) => short === letter) ?? []
  return name === undefined || spec === undefined ? undefined : { name, spec }
}

/** The flag that a word ends with, as a person would write it alone. */
export function shownFlag(word: string): string {
  return word.startsWith('--') ? word : `-${word.at(-1)}`
}
