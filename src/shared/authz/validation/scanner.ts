import { TextFault } from './text-fault.ts'

/** Reads one line from left to right. */
export interface Scanner {
  offset(): number
  isAtEnd(): boolean
  /** The rest of the line. */
  rest(): string
  /** Takes the text that the sticky pattern matches at the current position; undefined if it does not match. */
  take(pattern: RegExp): string | undefined
  /** As `take`. @throws TextFault naming what was expected (`what`) and what was found. */
  expect(pattern: RegExp, what: string): string
  /** @throws TextFault always, at the current position. */
  fail(what: string): never
}

const FOUND_MAX = 60

/** The text, quoted and shortened. */
export function excerpt(text: string): string {
  if (text === '') return 'the end'
  return JSON.stringify(text.length > FOUND_MAX ? `${text.slice(0, FOUND_MAX)}…` : text)
}

export function createScanner(text: string): Scanner {
  let at = 0

  function take(pattern: RegExp): string | undefined {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found !== undefined) at += found.length
    return found
  }

  function fail(what: string): never {
    throw new TextFault(at, `expected ${what}, found ${excerpt(text.slice(at))}`)
  }

  return {
    offset: () => at,
    isAtEnd: () => at === text.length,
    rest: () => text.slice(at),
    take,
    expect: (pattern, what) => take(pattern) ?? fail(what),
    fail,
  }
}
