import { harmless } from '../../../output/style.ts'
import { targetsOf, type BridgePicture, type Side } from './picture.ts'

/** Bridges for Mermaid. */
export function mermaid(pictures: readonly BridgePicture[]): string {
  return ['flowchart LR', ...pictures.flatMap(bridgeLines)].map((line) => `${line}\n`).join('')
}

function bridgeLines(picture: BridgePicture, index: number): readonly string[] {
  const { bridge, sides, entrances } = picture
  const targets = targetsOf(picture)
  const own = `b${index}`
  return [
    `  ${own}[["${text([bridge.name, ...bridge.lines])}"]]`,
    ...sides.map(({ name, lines }, at) => `  ${own}s${at}["${text([name, ...lines])}"]`),
    ...sides.map((side, at) => `  ${arrow(side, own, `${own}s${at}`)}`),
    ...entrances.map(({ name, lines }, at) => `  ${own}e${at}["${text([name, ...lines])}"]`),
    ...targets.map((name, at) => `  ${own}t${at}(["${text([name])}"])`),
    ...entrances.map((_, at) => `  ${own} --- ${own}e${at}`),
    ...entrances.map(
      ({ target, port }, at) => `  ${own}e${at} -- "${text([`:${port}`])}" --> ${own}t${targets.indexOf(target)}`,
    ),
  ]
}

function arrow({ flow }: Side, bridge: string, side: string): string {
  if (flow === 'egress_only') return `${bridge} --> ${side}`
  return `${side} ${flow === 'bidirectional' ? '<-->' : '-->'} ${bridge}`
}

function text(lines: readonly string[]): string {
  return lines
    .map((line) => harmless(line).replaceAll(/["#&<>;`\\]/g, (character) => `#${character.charCodeAt(0)};`))
    .join('<br/>')
}
