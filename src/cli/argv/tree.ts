import { isFlag, readFlags } from './argv.ts'
import { mistypedError } from '../errors/cli-error.ts'
import type { CommandRow } from './command.ts'
import { ALL_SHARED } from './flags.ts'
import { verbMeant } from './verb-synonyms.ts'

/**
 * A word of the command line with what may follow it. It may be a command and have commands below it: then the next word is one
 * of those if it can be, else an argument; after `--` it always is.
 */
export interface Branch {
  /** From the beginning, e.g. `nodes nsk`; empty at the root. */
  readonly words: string
  readonly row: CommandRow | undefined
  readonly children: ReadonlyMap<string, Branch>
}

interface Growing {
  words: string
  row: CommandRow | undefined
  children: Map<string, Growing>
}

/** Grows the tree of all commands. Throws when two rows have the same words: a programming error. */
export function growTree(rows: readonly CommandRow[]): Branch {
  const root: Growing = { words: '', row: undefined, children: new Map() }
  for (const row of rows) {
    let branch = root
    for (const word of row.words.split(' ')) branch = childOf(branch, word)
    if (branch.row) throw new Error(`two commands are called "${row.words}"`)
    branch.row = row
  }
  return root
}

function childOf(branch: Growing, word: string): Growing {
  const child = branch.children.get(word) ?? {
    words: branch.words === '' ? word : `${branch.words} ${word}`,
    row: undefined,
    children: new Map<string, Growing>(),
  }
  branch.children.set(word, child)
  return child
}

export interface Route {
  readonly branch: Branch
  /** The arguments without the words that led here. */
  readonly rest: readonly string[]
}

/** Follows the words of a command line as far as they lead; shared flags may stand between them. */
export function follow(root: Branch, argv: readonly string[]): Route {
  let branch = root
  const rest: string[] = []
  for (let index = 0; index < argv.length;) {
    const word = argv[index] ?? ''
    const width = isFlag(word) ? sharedWidth(argv, index) : 0
    const child = isFlag(word) ? undefined : childCalled(branch, word)
    if (width === 0 && child === undefined) return { branch, rest: [...rest, ...argv.slice(index)] }
    if (child) branch = child
    else rest.push(...argv.slice(index, index + width))
    index += child ? 1 : width
  }
  return { branch, rest }
}

/** How many arguments a shared flag takes up; 0 when it is not one, or is the end of flags. */
function sharedWidth(argv: readonly string[], index: number): number {
  if (argv[index] === '--') return 0
  try {
    return readFlags(argv, index, ALL_SHARED).reduce((sum, { consumed }) => sum + consumed, 0)
  } catch {
    return 0 // The command's own flag, or a mistake: a caller that parses the rest knows which.
  }
}

function childCalled(branch: Branch, word: string): Branch | undefined {
  const exact = branch.children.get(word)
  if (exact || branch.words !== '') return exact
  for (const [noun, child] of branch.children) if (isCalled(noun, word)) return child
  return undefined
}

function isCalled(noun: string, word: string): boolean {
  return noun === word || singular(noun) === word
}

/** `identities` -> `identity`, `nodes` -> `node`. */
export function singular(noun: string): string {
  return noun.replace(/ies$/, 'y').replace(/s$/, '')
}

/** The error for a verb in front of its noun, as other tools have it: `ctl list nodes`, `ctl get nodes`. */
export function swapped(root: Branch, rest: readonly string[]): Error | undefined {
  const [typed, noun] = wordsLeft(rest)
  const branch = root.words === '' && noun !== undefined ? nounCalled(root, noun) : undefined
  if (typed === undefined || branch === undefined) return undefined
  const verb = branch.children.has(typed) ? typed : verbMeant(typed, verbsOf(branch), wordsLeft(rest).length > 2)
  if (verb === undefined) return undefined
  return unknownCommand(typed, `The noun comes first: ctl ${branch.words} ${verb}`)
}

/** A noun, also one that has its place below another one. */
function nounCalled(root: Branch, noun: string): Branch | undefined {
  return childCalled(root, noun) ?? nestedNoun(root, noun)
}

function nestedNoun(root: Branch, noun: string): Branch | undefined {
  const found = [...root.children.values()].flatMap(({ children }) => [...children.values()])
  return found.find(({ words, children }) => children.size > 0 && isCalled(words.split(' ').at(-1) ?? '', noun))
}

/** The error for an unknown word for which it is known what was meant. */
function unknownCommand(words: string, hint: string): Error {
  return mistypedError(`unknown command "${words}"`, {
    word: words,
    known: [words],
    suggest: () => hint,
    otherwise: '',
  })
}

function verbsOf({ children }: Branch): readonly string[] {
  return [...children].filter(([, child]) => child.row?.hidden !== true).map(([verb]) => verb)
}

/** The words of what was left over, without shared flags and their values. */
export function wordsLeft(rest: readonly string[]): readonly string[] {
  const words: string[] = []
  for (let index = 0; index < rest.length;) {
    const word = rest[index] ?? ''
    if (!isFlag(word)) words.push(word)
    index += isFlag(word) ? Math.max(1, sharedWidth(rest, index)) : 1
  }
  return words
}

/** The error for a noun that has its place below another one, such as `users` of `admin`. */
export function nested(root: Branch, word: string): Error | undefined {
  if (root.words !== '') return undefined
  const meant = nestedNoun(root, word)
  if (meant === undefined) return undefined
  return unknownCommand(word, `It belongs to another noun: ctl ${meant.words} --help`)
}

/** The error for a word that leads nowhere, with the verb that other command lines have it for, or the nearest one. */
export function unknownWord(branch: Branch, rest: readonly string[]): Error {
  const { words } = branch
  const [word = '', ...more] = wordsLeft(rest)
  const before = words === '' ? '' : `${words} `
  const known = verbsOf(branch)
  const meant = words === '' ? undefined : verbMeant(word, known, more.length > 0)
  if (meant !== undefined) return unknownCommand(`${before}${word}`, `Did you mean: ctl ${before}${meant}`)
  return mistypedError(`unknown command "${before}${word}"`, {
    word,
    known,
    suggest: (near) => `Did you mean: ctl ${before}${near}`,
    otherwise: words === '' ? 'See what there is: ctl --help' : `It has: ${known.join(', ')}. See: ctl ${words} --help`,
  })
}
