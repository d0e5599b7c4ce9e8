import type { Drawing } from './drawing.ts'
import { px, xml } from './markup.ts'

const MARGIN = 24
const HEAD = 56

/** A picture with what stands around it. Texts are not escaped yet. */
export interface Page {
  readonly title: string
  /** The line below the title. */
  readonly counts: string
  /** The picture in words, for those who do not see it. */
  readonly description: string
  readonly styleSheet: string
  readonly drawing: Drawing
  readonly legend: Drawing
}

/** One SVG file that needs no other: title, drawing, legend. */
export function page({ title, counts, description, styleSheet, drawing, legend }: Page): string {
  const width = Math.max(drawing.width, legend.width) + 2 * MARGIN
  const height = HEAD + drawing.height + legend.height + 3 * MARGIN
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${px(width)} ${px(height)}" width="${px(width)}" height="${px(height)}" role="img" aria-labelledby="title desc">`,
    `<title id="title">${xml(title)}</title>`,
    `<desc id="desc">${xml(description)}</desc>`,
    `<style>${styleSheet}</style>`,
    `<rect class="paper" width="100%" height="100%"/>`,
    `<text class="title" x="${MARGIN}" y="${MARGIN + 14}">${xml(title)}</text>`,
    `<text class="faint" x="${MARGIN}" y="${MARGIN + 36}" font-size="13">${xml(counts)}</text>`,
    placed(drawing, (width - drawing.width) / 2, HEAD + MARGIN),
    placed(legend, MARGIN, HEAD + drawing.height + 2 * MARGIN),
    '</svg>',
  ]
  return `${lines.join('\n')}\n`
}

function placed({ body }: Drawing, x: number, y: number): string {
  return `<g transform="translate(${px(x)} ${px(y)})">\n${body.join('\n')}\n</g>`
}
