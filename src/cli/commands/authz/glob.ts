const PIECES: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/\*\*\//y, () => '(?:[^/]+/)*'],
  [/\*+/y, () => '[^/]*'],
  [/\?/y, () => '[^/]'],
  [/\[[!^]?[^\]/]+\]/y, (found) => found.replace(/^\[[!^]/, '[^').replaceAll('\\', '\\\\')],
  [/\{[^{}]+\}/y, (found) => `(?:${found.slice(1, -1).split(',').map(escaped).join('|')})`],
  [/[^]/y, escaped],
]

/** The expression of a shell's pattern over a relative path: `*`, `?`, `[a-z]`, `{a,b}`, and `**` and a slash for any directories. */
export function globPattern(glob: string): RegExp {
  let source = ''
  for (let at = 0; at < glob.length;) {
    for (const [piece, translate] of PIECES) {
      piece.lastIndex = at
      const found = piece.exec(glob)?.[0]
      if (found === undefined) continue
      source += translate(found)
      at += found.length
      break
    }
  }
  return new RegExp(`^${source}$`)
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
