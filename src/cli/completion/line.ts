/** A command line up to the cursor, as a shell would read it without expanding anything. */
export interface TypedLine {
  /** Its words; the last one is the word begun, empty after a space. */
  readonly words: readonly string[]
  /** How much of the word begun bash leaves alone: up to its last unquoted `:` or `=`. */
  readonly brokenAt: number
}

/** Reads a line with its quotes and backslashes; one that is still open is closed by the end. */
export function readLine(line: string): TypedLine {
  const words: string[] = []
  let word = ''
  let isBegun = false
  let brokenAt = 0
  for (const { char, isPlain } of charactersOf(line)) {
    if (isPlain && /\s/.test(char)) {
      if (isBegun) words.push(word)
      word = ''
      isBegun = false
      brokenAt = 0
      continue
    }
    word += char
    isBegun = true
    if (isPlain && /[:=]/.test(char)) brokenAt = word.length
  }
  return { words: [...words, word], brokenAt }
}

interface Character {
  /** Empty where quotes hold nothing. */
  readonly char: string
  /** Neither quoted nor escaped. */
  readonly isPlain: boolean
}

function* charactersOf(line: string): Generator<Character> {
  let quote = ''
  for (let at = 0; at < line.length; at += 1) {
    const char = line.charAt(at)
    if (char === '\\' && quote !== "'") {
      at += 1
      yield { char: line.charAt(at), isPlain: false }
    } else if (quote === '' && /["']/.test(char)) {
      quote = char
      yield { char: '', isPlain: false }
    } else if (char === quote) quote = ''
    else yield { char, isPlain: quote === '' }
  }
}
