import { harmless } from '../../../output/style.ts'
import { targetsOf, type BridgePicture, type Side } from './picture.ts'

const ENDS: Readonly<Record<Side['flow'], string>> = {
  bidirectional: 'both',
  ingress_only: 'forward',
  egress_only: 'back',
}

/** Bridges for Graphviz. */
export function dot(pictures: readonly BridgePicture[]): string {
  const shown = [
    'digraph bridges {',
    '  rankdir=LR;',
    '  node [shape=box, style=rounded, fontname="sans-serif"];',
    '  edge [fontname="sans-serif", fontsize=10];',
    ...pictures.flatMap(bridgeLines),
    '}',
  ]
  return shown.map((line) => `${line}\n`).join('')
}

function bridgeLines(picture: BridgePicture, index: number): readonly string[] {
  const { bridge, sides, entrances } = picture
  const targets = targetsOf(picture)
  const own = `b${index}`
  return [
    `  ${own} [label=${text([bridge.name, ...bridge.lines])}, style="rounded,bold"];`,
    ...sides.map(({ name, lines }, at) => `  ${own}s${at} [label=${text([name, ...lines])}];`),
    ...sides.map(({ flow }, at) => `  ${own}s${at} -> ${own} [dir=${ENDS[flow]}];`),
    ...entrances.map(({ name, lines }, at) => `  ${own}e${at} [label=${text([name, ...lines])}];`),
    ...targets.map((name, at) => `  ${own}t${at} [label=${text([name])}, shape=ellipse];`),
    ...entrances.map((_, at) => `  ${own} -> ${own}e${at} [dir=none];`),
    ...entrances.map(
      ({ target, port }, at) => `  ${own}e${at} -> ${own}t${targets.indexOf(target)} [label=${text([`:${port}`])}];`,
    ),
  ]
}

function text(lines: readonly string[]): string {
  return `"${lines.map((line) => harmless(line).replaceAll('\\', '\\\\').replaceAll('"', '\\"')).join('\\n')}"`
}
