import { STYLE_SHEET } from '../../nodes/topology/svg/style-sheet.ts'

interface Palette {
  readonly paper: string
  readonly ink: string
  readonly box: string
  readonly site: string
  readonly users: string
  readonly entrance: string
}

const LIGHT: Palette = {
  paper: '#ffffff',
  ink: '#5c6773',
  box: '#f1f4f8',
  site: '#3b7dd8',
  users: '#7a4fc0',
  entrance: '#238551',
}
const DARK: Palette = {
  paper: '#12161b',
  ink: '#9aa7b4',
  box: '#1d242c',
  site: '#6ea8f7',
  users: '#b394ee',
  entrance: '#4fc383',
}

function colours({ paper, ink, box, site, users, entrance }: Palette): string {
  return [
    `.box{fill:${box};stroke:${ink}}.box.site{stroke:${site}}.box.users{stroke:${users}}.box.entrance{stroke:${entrance}}`,
    `.arrow.site{stroke:${site}}.arrow.users{stroke:${users}}.arrow.entrance{stroke:${entrance}}`,
    `.flow{fill:${ink};stroke:${paper}}`,
  ].join('')
}

const SHAPES = [
  '.arrow{fill:none;stroke-width:1.6;opacity:.85}.arrow.users{stroke-dasharray:6 3}.arrow.arrow:hover{opacity:1;stroke-width:3}',
  '.box.relaying{stroke-width:3}',
  '.flow{font-size:11px;paint-order:stroke;stroke-width:4px;stroke-linejoin:round}',
].join('')

/** The style of pictures of bridges: that of the mesh, with boxes and arrows. */
export const BRIDGE_STYLE_SHEET = `${STYLE_SHEET}${SHAPES}${colours(LIGHT)}@media (prefers-color-scheme:dark){${colours(DARK)}}`
