import { STYLE_SHEET } from '../../nodes/topology/svg/style-sheet.ts'

interface Palette {
  readonly grid: string
  readonly used: string
  readonly target: string
}

const LIGHT: Palette = { grid: '#d5dbe1', used: '#3b7dd8', target: '#c2571a' }
const DARK: Palette = { grid: '#303a45', used: '#6ea8f7', target: '#f0925a' }

function colours({ grid, used, target }: Palette): string {
  return `.grid{stroke:${grid}}.used{fill:${used};stroke:${used}}.aim{stroke:${target}}`
}

const SHAPES =
  '.grid{stroke-width:1;fill:none}.used{fill-opacity:.25;stroke-width:1.6;stroke-linejoin:round}.aim{fill:none;stroke-width:2;stroke-dasharray:7 4}'

/** The style of plots: that of every picture, with an area and a line. */
export const PLOT_STYLE_SHEET = `${STYLE_SHEET}${SHAPES}${colours(LIGHT)}@media (prefers-color-scheme:dark){${colours(DARK)}}`
