import { label, labelWidth, px } from '../../nodes/topology/svg/markup.ts'
import { pointAt, type Curve } from './arrows.ts'
import type { BoxSize, Point } from './layout.ts'

const FONT = 11
const LINE = 15
/** Where on its arrow a label may be, the best place first. */
const PARTS = [0.35, 0.5, 0.65, 0.25, 0.75, 0.42, 0.58]

/** An arrow, and what it lets pass. */
export interface Flowing {
  readonly curve: Curve
  readonly flows: string
}

/** A part of the drawing that a label must not cover. */
export interface Area extends BoxSize {
  readonly center: Point
}

/** Labels on arrows, each where it covers neither a box nor another label. One without such a place is in the tooltip alone. */
export function flowLabels(arrows: readonly Flowing[], boxes: readonly Area[]): readonly string[] {
  const taken = [...boxes]
  return arrows.flatMap(({ curve, flows }) => {
    const size = { width: labelWidth([flows], FONT), height: LINE }
    const places = PARTS.map((part) => ({ ...size, center: pointAt(curve, part) }))
    const place = places.find((one) => !taken.some((other) => overlap(one, other)))
    if (place === undefined) return []
    taken.push(place)
    const { x, y } = place.center
    const at = `x="${px(x)}" y="${px(y)}" text-anchor="middle" dominant-baseline="central"`
    return [`<text class="flow" ${at}>${label(flows)}</text>`]
  })
}

function overlap(one: Area, other: Area): boolean {
  const { x, y } = one.center
  const isBeside = Math.abs(x - other.center.x) >= (one.width + other.width) / 2
  return !isBeside && Math.abs(y - other.center.y) < (one.height + other.height) / 2
}
