import type { Drawing } from './drawing.ts'
import { nodeMark } from './node-mark.ts'

const FONT = 12
const ROW = 22
/** Wide enough for the longest row. */
const WIDTH = 450
const STEP = 115

const STATES = ['healthy', 'stale', 'unreachable', 'never_reported'] as const

const LINE = {
  direct: '<path class="edge direct" d="M0 -4h24"/>',
  relayed: '<path class="edge relayed" d="M0 -4h24"/>',
}
const CELL = {
  direct: '<path class="cell direct" d="M6 -9h10v10h-10z"/>',
  relayed: '<path class="cell relayed" d="M6 -9h10v10h-10z"/>',
}

const NOTES = {
  ring: 'The half of a line at a node shows how that node is reached.',
  matrix: 'A row reaches, a column is reached. Relays are in bold.',
  groups: 'Point at a dot for its name.',
}

/** What the marks of a picture mean. */
export function legend(kind: 'ring' | 'matrix' | 'groups'): Drawing {
  const states = STATES.map((state, index) => {
    const mark = nodeMark({ reachability: state }, { x: 6, y: -4, radius: 6, isRelay: false })
    return item(mark, state.replace('_', ' '), { x: index * STEP, y: 0, indent: 20 })
  })
  const ways = kind === 'matrix' ? CELL : LINE
  const relay = nodeMark({ reachability: 'healthy' }, { x: 10, y: -4, radius: 5, isRelay: true })
  const edges = [
    item(ways.direct, 'direct', { x: 0, y: ROW, indent: 32 }),
    item(ways.relayed, 'relayed', { x: STEP, y: ROW, indent: 32 }),
    ...(kind === 'matrix'
      ? []
      : [item(relay, 'relays for others', { x: kind === 'groups' ? 0 : 2 * STEP, y: ROW, indent: 28 })]),
  ]
  const note = `<text class="faint" x="0" y="${2 * ROW}" font-size="${FONT}">${NOTES[kind]}</text>`
  return { width: WIDTH, height: 2 * ROW, body: [...states, ...(kind === 'groups' ? edges.slice(2) : edges), note] }
}

interface Place {
  readonly x: number
  readonly y: number
  readonly indent: number
}

function item(mark: string, text: string, { x, y, indent }: Place): string {
  return `<g transform="translate(${x} ${y})">${mark}<text x="${indent}" font-size="${FONT}">${text}</text></g>`
}
