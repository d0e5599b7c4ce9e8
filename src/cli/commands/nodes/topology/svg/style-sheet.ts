interface Palette {
  readonly paper: string
  readonly ink: string
  readonly faint: string
  readonly direct: string
  readonly relayed: string
  readonly healthy: string
  readonly stale: string
  readonly unreachable: string
  readonly never: string
}

const LIGHT: Palette = {
  paper: '#ffffff',
  ink: '#1f2933',
  faint: '#5c6773',
  direct: '#3b7dd8',
  relayed: '#c2571a',
  healthy: '#238551',
  stale: '#b98a00',
  unreachable: '#cd2f2f',
  never: '#7b8794',
}

const DARK: Palette = {
  paper: '#12161b',
  ink: '#e6ebf0',
  faint: '#9aa7b4',
  direct: '#6ea8f7',
  relayed: '#f0925a',
  healthy: '#4fc383',
  stale: '#e3b93c',
  unreachable: '#f26d6d',
  never: '#8a96a3',
}

/** Rules, not variables, for colours: more programs than browsers show these pictures. */
function colours(palette: Palette): string {
  const { paper, ink, faint, direct, relayed, healthy, stale, unreachable, never } = palette
  return [
    `.paper{fill:${paper}}text{fill:${ink}}.faint{fill:${faint}}`,
    `.edge.direct{stroke:${direct}}.edge.relayed{stroke:${relayed}}.relay{stroke:${ink}}`,
    `.cell.direct{fill:${direct}}.cell.relayed{fill:${relayed}}.cell.self{fill:${faint}}.gap{stroke:${paper}}`,
    `.healthy{fill:${healthy};stroke:${healthy}}.stale{fill:${stale};stroke:${stale}}`,
    `.unreachable{fill:${paper};stroke:${unreachable}}.never_reported{fill:${paper};stroke:${never}}`,
  ].join('')
}

const SHAPES = [
  'text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif}',
  '.title{font-size:18px;font-weight:600}.head,.relaying{font-weight:600}',
  '.edge{fill:none;stroke-width:1.6}.edge.relayed{stroke-dasharray:5 3}.edge.direct{opacity:.75}',
  '.many .edge{stroke-width:.8}.many .edge.direct{opacity:.35}.many .edge.relayed{opacity:.65}',
  '.edge.edge:hover{opacity:1;stroke-width:2.4}',
  '.node{stroke-width:2.5}.never_reported{stroke-dasharray:3 2}.relay{fill:none;stroke-width:1.5}',
  '.cell{opacity:.85}.gap{stroke-width:1}',
].join('')

/** The style of every picture, for light surroundings and for dark ones. */
export const STYLE_SHEET = `${SHAPES}${colours(LIGHT)}@media (prefers-color-scheme:dark){${colours(DARK)}}`
