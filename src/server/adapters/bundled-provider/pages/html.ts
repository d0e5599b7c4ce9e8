/** Markup: what is in it has been escaped. */
export interface Html {
  readonly markup: string
}

type Part = Html | readonly Html[] | string | number | undefined

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Markup from a template; every value that is not markup itself is escaped, `undefined` leaves nothing. */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { markup: String.raw({ raw: strings }, ...parts.map(markupOf)) }
}

/** Takes text as markup as it is: for constants and the drawings of libraries alone. */
export function trusted(markup: string): Html {
  return { markup }
}

function markupOf(part: Part): string {
  if (part === undefined) return ''
  if (typeof part === 'object') return 'markup' in part ? part.markup : part.map(({ markup }) => markup).join('')
  return String(part).replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}
