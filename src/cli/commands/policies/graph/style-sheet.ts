import { STYLE_SHEET } from '../../nodes/topology/svg/style-sheet.ts'

interface Palette {
  readonly paper: string
  readonly ink: string
  readonly box: string
  readonly some: string
  readonly any: string
}

const LIGHT: Palette = { paper: '#ffffff', ink: '#5c6773', box: '#f1f4f8', some: '#3b7dd8', any: '#c2571a' }
const DARK: Palette = { paper: '#12161b', ink: '#9aa7b4', box: '#1d242c', some: '#6ea8f7', any: '#f0925a' }

function colours({ paper, ink, box, some, any }: Palette): string {
  return [
    `.box{fill:${box};stroke:${ink}}.arrow.some{stroke:${some}}.arrow.any{stroke:${any}}`,
    `.flow{stroke:${paper}}`,
  ].join('')
}

const SHAPES = [
  '.arrow{fill:none;stroke-width:1.6;opacity:.8}.arrow.any{stroke-dasharray:6 3}',
  '.many .arrow{stroke-width:1;opacity:.4}.arrow.arrow:hover{opacity:1;stroke-width:3}',
  '.flow{font-size:11px;paint-order:stroke;stroke-width:4px;stroke-linejoin:round}',
].join('')

/** The style of pictures of policies: that of the mesh, with boxes and arrows. */
export const GRAPH_STYLE_SHEET = `${STYLE_SHEET}${SHAPES}${colours(LIGHT)}@media (prefers-color-scheme:dark){${colours(DARK)}}`
