/** Whether text may have characters beyond ASCII: the locale is of UTF-8, or none is set, as in containers. */
export function isUtf8(env: Readonly<Record<string, string | undefined>>): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((one) => one !== undefined && one !== '')
  return locale === undefined || /utf-?8/i.test(locale)
}

/** Characters that tables and pictures are drawn with, and their substitutes where there is only ASCII. */
const DRAWN: Readonly<Record<string, string>> = { '…': '~', '█': '#', '▓': '=', '▒': '-', '░': '.' }

/** The same text, drawn with ASCII; as wide as before. */
export function drawnInAscii(text: string): string {
  return text.replaceAll(/[…█▓▒░]/g, (character) => DRAWN[character] ?? character)
}
