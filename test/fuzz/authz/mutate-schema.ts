import type { Random } from './random.ts'

const TOKENS = /\s*(?:[A-Za-z0-9_]+|->|"[^"]*"|[^\sA-Za-z0-9_])|\s+/g

/** Pieces that are put where they may or may not belong. */
const PIECES: readonly string[] = [
  ...['definition', 'caveat', 'relation', 'permission', 'use', 'with', 'and', 'nil', 'self', 'expiration', 'import'],
  ...['any', 'all', 'partial', 'true', 'int', 'list', 'user', 'group', 'view', 'x', 'Upper', 'a_', '_a', '9', 'ärger'],
  ...[
    '{',
    '}',
    '(',
    ')',
    '<',
    '>',
    '+',
    '&',
    '-',
    '|',
    ':',
    '#',
    '=',
    '->',
    '.',
    ',',
    '*',
    ';',
    '/',
    '"',
    "'",
    '!',
    '$',
    '@',
  ],
  ...['\n', '\n\n', ' ', '\t', '\r\n', '// note\n', '/* note */', '/** doc */', '...', '#...', ':*', 'with expiration'],
]

type Mutation = (random: Random, tokens: string[], at: number) => void

const MUTATIONS: readonly Mutation[] = [
  (_, tokens, at) => tokens.splice(at, 1),
  (_, tokens, at) => tokens.splice(at, 0, tokens[at] ?? ''),
  (random, tokens, at) => tokens.splice(at, 1, ` ${random.pick(PIECES)}`),
  (random, tokens, at) => tokens.splice(at, 0, random.pick(PIECES)),
  (random, tokens, at) => tokens.splice(at, 1, random.pick(tokens)),
  (_, tokens, at) => tokens.splice(at, 2, tokens[at + 1] ?? '', tokens[at] ?? ''),
  (_, tokens, at) => tokens.splice(at, 1, (tokens[at] ?? '').replace(/\s+/, ' ')),
]

/** The schema with one or two pieces dropped, doubled, swapped or put in. */
export function mutateSchema(random: Random, text: string): string {
  const tokens = text.match(TOKENS) ?? []
  for (let count = 1 + random.below(2); count > 0 && tokens.length > 0; count--) {
    random.pick(MUTATIONS)(random, tokens, random.below(tokens.length))
  }
  return tokens.join('')
}
