import { RE2JS, RE2JSException } from '@bufbuild/re2'

/** Longest pattern of a value schema, in characters. */
const PATTERN_CHARACTERS_MAX = 256
/** Largest compiled pattern. A search visits each instruction at most once for each of the 256 characters of a value. */
const INSTRUCTIONS_MAX = 2_000

/** Whether a text has a match anywhere in it. */
export type Search = (text: string) => boolean

/**
 * Compiles a pattern of RE2: no backreferences, no lookaround, a search takes time linear in the text. `^` and `$` are the ends of the
 * text; without them a pattern matches anywhere, as in JSON Schema. A text that is no such pattern, or
 * a large one, gives the end of a sentence: what it must be.
 */
export function compilePattern(pattern: string): Search | { readonly error: string } {
  if (Array.from(pattern).length > PATTERN_CHARACTERS_MAX) {
    return { error: `have at most ${PATTERN_CHARACTERS_MAX} characters.` }
  }
  const compiled = compiledOf(pattern)
  if (typeof compiled === 'string') return { error: `be a pattern of RE2: ${compiled}.` }
  if (compiled.re2().prog.numInst() > INSTRUCTIONS_MAX) {
    return {
      error: `be smaller: it has more than ${INSTRUCTIONS_MAX} instructions, since repetitions are written out.`,
    }
  }
  return (text) => compiled.test(text)
}

/** The compiled pattern, or why it is none. */
function compiledOf(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    if (error instanceof RE2JSException) return error.message.replace('error parsing regexp: ', '')
    throw error
  }
}
