/** Markup that is safe to send as it is. */
export interface Markup {
  readonly text: string
}

/** The value of a hole: markup stays markup, texts are escaped, undefined is empty. */
export type Hole = Markup | readonly Markup[] | string | number | undefined

/** Builds markup from a template; every text in a hole is escaped, within elements and within quoted attributes alike. */
export function markup(parts: TemplateStringsArray, ...holes: readonly Hole[]): Markup {
  return { text: parts.map((part, index) => part + textOf(holes[index])).join('') }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function textOf(hole: Hole): string {
  if (hole === undefined) return ''
  if (typeof hole === 'object') return 'text' in hole ? hole.text : hole.map(({ text }) => text).join('')
  return String(hole).replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}
