import { mistypedError } from '../errors/cli-error.ts'
import type { CommandRow } from './command.ts'
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

function isCalled(noun: string, word: string): boolean {
  return noun === word || singular(noun) === word
}

/** `identities` -> `identity`, `nodes` -> `node`. */
export function singular(noun: string): string {
  return noun.replace(/ies$/, 'y').replace(/(?<!s)s$/, '')
}

/** The error for words that lead nowhere from a branch: with the command that was meant where that is known, or the nearest one. */
export function unknownCommand(root: Branch, branch: Branch, words: readonly string[]): Error {
  const isNoun = branch === root
  return (isNoun ? (swapped(root, words) ?? nested(root, words)) : undefined) ?? unknownWord(branch, words)
}

/** A verb in front of its noun, as other tools have it: `ctl list nodes`, `ctl get nodes`. */
function swapped(root: Branch, words: readonly string[]): Error | undefined {
  const [typed = '', noun] = words
  const branch = noun === undefined ? undefined : nounCalled(root, noun)
  if (branch === undefined) return undefined
  const verb = branch.children.has(typed) ? typed : verbMeant(typed, verbsOf(branch), words.length > 2)
  return verb === undefined ? undefined : unknown(typed, `The noun comes first: ctl ${branch.words} ${verb}`)
}

/** A noun, also one that has its place below another one. */
function nounCalled(root: Branch, noun: string): Branch | undefined {
  return [...root.children.values()].find(({ words }) => isCalled(words, noun)) ?? nestedNoun(root, noun)
}

function nestedNoun(root: Branch, noun: string): Branch | undefined {
  const found = [...root.children.values()].flatMap(({ children }) => [...children.values()])
  return found.find(({ words, children }) => children.size > 0 && isCalled(words.split(' ').at(-1) ?? '', noun))
}

/** A noun that has its place below another one, such as `users` of `admin`. */
function nested(root: Branch, [word = '']: readonly string[]): Error | undefined {
  const meant = nestedNoun(root, word)
  return meant && unknown(word, `It belongs to another noun: ctl ${meant.words} --help`)
}

function unknownWord(branch: Branch, [word = '', ...more]: readonly string[]): Error {
  const { words } = branch
  const before = words === '' ? '' : `${words} `
  const known = verbsOf(branch)
  const meant = words === '' ? undefined : verbMeant(word, known, more.length > 0)
  if (meant !== undefined) return unknown(`${before}${word}`, `Did you mean: ctl ${before}${meant}`)
  return mistypedError(`unknown command "${before}${word}"`, {
    word,
    known,
    suggest: (near) => `Did you mean: ctl ${before}${near}`,
    otherwise: words === '' ? 'See what there is: ctl --help' : `It has: ${known.join(', ')}. See: ctl ${words} --help`,
  })
}

/** The error for words for which it is known what was meant. */
function unknown(words: string, hint: string): Error {
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
