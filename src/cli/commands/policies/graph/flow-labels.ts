import { label, labelWidth, px } from '../../nodes/topology/svg/markup.ts'
import { pointAt, type Curve } from './arrows.ts'
import type { Point } from './layout.ts'

const FONT = 11
const LINE = 15
/** Where on its arrow a label may be, the best place first. */
const PARTS = [0.35, 0.5, 0.65, 0.25, 0.75, 0.42, 0.58]

/** An arrow, and what it lets pass. */
export interface Flowing {
  readonly curve: Curve
  readonly flows: string
}

/** Labels on arrows, each where it covers no other one if there is such a place. */
export function flowLabels(arrows: readonly Flowing[]): readonly string[] {
  const taken: Rectangle[] = []
  return arrows.map(({ curve, flows }) => {
    const places = PARTS.map((part) => around(pointAt(curve, part), labelWidth([flows], FONT)))
    const [first] = places
    const place = places.find((one) => !taken.some((other) => overlap(one, other))) ?? first
    if (place === undefined) return ''
    taken.push(place)
    const { x, y } = place.center
    return `<text class="flow" x="${px(x)}" y="${px(y)}" text-anchor="middle" dominant-baseline="central">${label(flows)}</text>`
  })
}

interface Rectangle {
  readonly center: Point
  readonly width: number
}

function around(center: Point, width: number): Rectangle {
  return { center, width }
}

function overlap(one: Rectangle, other: Rectangle): boolean {
  const { x, y } = one.center
  return Math.abs(x - other.center.x) < (one.width + other.width) / 2 && Math.abs(y - other.center.y) < LINE
}
