import { px } from '../../nodes/topology/svg/markup.ts'
import { LOOP_ROOM, type Box, type Point } from './layout.ts'

/** The line of an arrow: from its first point, by two control points, to its tip. */
export type Curve = readonly [from: Point, leaving: Point, arriving: Point, to: Point]

/** Between the two arrows of a pair of groups, in px. */
const APART = 8
/** The part of a side that arrows use. */
const USED = 0.7
const TURN_MIN = 30
const HEAD = { length: 7, width: 4 }

/** Two boxes by their places in the layout. */
export interface Ends {
  readonly from: number
  readonly to: number
}

/** The arrow from one box to another one, through the area in the middle. */
export function arrowBetween(boxes: readonly Box[], { from, to }: Ends): Curve | undefined {
  const [sender, receiver] = [boxes[from], boxes[to]]
  if (sender === undefined || receiver === undefined) return undefined
  if (from === to) return loopAt(sender)
  const count = boxes.length
  const start = onSide(sender, offsetOf(sender, (to - from + count) % count, count) - APART / 2)
  const end = onSide(receiver, offsetOf(receiver, (from - to + count) % count, count) + APART / 2)
  const turn = Math.max(TURN_MIN, 0.4 * Math.hypot(end.x - start.x, end.y - start.y))
  return [
    start,
    moved(start, sender.inward, Math.min(turn, 0.8 * sender.depth)),
    moved(end, receiver.inward, Math.min(turn, 0.8 * receiver.depth)),
    end,
  ]
}

/** The next box clockwise is met at the far end of the side, the one before at the near end: arrows of a box do not cross there. */
function offsetOf({ side }: Box, stepsClockwise: number, count: number): number {
  return side * USED * (0.5 - stepsClockwise / count)
}

function onSide({ center, inward, along, reach }: Box, offset: number): Point {
  return moved(moved(center, inward, reach), along, offset)
}

/** An arrow on the outer side of a box, back to it. */
function loopAt({ center, inward, along, reach }: Box): Curve {
  const outer = moved(center, inward, -reach)
  const [start, end] = [moved(outer, along, -APART), moved(outer, along, APART)]
  return [start, moved(start, inward, 4 - LOOP_ROOM), moved(end, inward, 4 - LOOP_ROOM), end]
}

function moved({ x, y }: Point, step: Point, by: number): Point {
  return { x: x + step.x * by, y: y + step.y * by }
}

/** The path of an arrow with its head, which arrives at a right angle. */
export function pathOf([from, leaving, arriving, to]: Curve): string {
  const away = Math.hypot(arriving.x - to.x, arriving.y - to.y) || 1
  const back = { x: (arriving.x - to.x) / away, y: (arriving.y - to.y) / away }
  const neck = moved(to, back, HEAD.length)
  const [one, other] = [HEAD.width, -HEAD.width].map((by) => text(moved(neck, { x: back.y, y: -back.x }, by)))
  return `M${text(from)}C${text(leaving)} ${text(arriving)} ${text(to)}M${one}L${text(to)}L${other}`
}

function text({ x, y }: Point): string {
  return `${px(x)} ${px(y)}`
}

/** The point at a part of the way, 0 to 1. */
export function pointAt([from, leaving, arriving, to]: Curve, part: number): Point {
  const rest = 1 - part
  const weights = [rest ** 3, 3 * rest ** 2 * part, 3 * rest * part ** 2, part ** 3] as const
  const sum = (axis: 'x' | 'y'): number =>
    weights[0] * from[axis] + weights[1] * leaving[axis] + weights[2] * arriving[axis] + weights[3] * to[axis]
  return { x: sum('x'), y: sum('y') }
}
