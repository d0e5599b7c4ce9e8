/** In px, from the upper left corner of the drawing. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** How large every box is. */
export interface BoxSize {
  readonly width: number
  readonly height: number
}

/** A box on the edge of the area in the middle, which belongs to arrows. */
export interface Box {
  readonly center: Point
  /** From the middle of the box to that of its inner side. */
  readonly reach: number
  /** The length of its inner side. */
  readonly side: number
  /** A step of one px towards the area. */
  readonly inward: Point
  /** A step of one px along the inner side, clockwise around the area. */
  readonly along: Point
  /** How far into the area an arrow may go before it turns. */
  readonly depth: number
}

export interface Layout {
  readonly boxes: readonly Box[]
  readonly width: number
  readonly height: number
}

/** Room between boxes side by side, and between boxes above each other. */
const GAP = { x: 40, y: 24 }
/** Room outside of the boxes for arrows from a group to itself. */
export const LOOP_ROOM = 28
const INNER_MIN = { width: 560, height: 320 }

/**
 * Places boxes clockwise around an area, from its upper left corner, so that no arrow through the area crosses a box. Above and
 * below there are as many as make the whole about as wide as high.
 */
export function layout(count: number, box: BoxSize): Layout {
  const cell = { width: box.width + GAP.x, height: box.height + GAP.y }
  const across = Math.round(((count / 2) * cell.height) / (cell.width + cell.height))
  const right = Math.ceil((count - 2 * across) / 2)
  const left = count - 2 * across - right
  const inner = {
    width: Math.max(across * cell.width, INNER_MIN.width),
    height: Math.max(right * cell.height, across > 0 ? INNER_MIN.height : cell.height),
  }
  const start = { x: LOOP_ROOM + box.width, y: LOOP_ROOM + (across > 0 ? box.height : 0) }
  const end = { x: start.x + inner.width, y: start.y + inner.height }
  const middle = (index: number, of: number): number => (index + 0.5) / of
  const vertical = { reach: box.height / 2, side: box.width, depth: inner.height }
  const horizontal = { reach: box.width / 2, side: box.height, depth: inner.width }
  const boxes = [
    ...times(across, (index) => ({
      ...vertical,
      ...facing(0, 1),
      center: { x: start.x + middle(index, across) * inner.width, y: start.y - vertical.reach },
    })),
    ...times(right, (index) => ({
      ...horizontal,
      ...facing(-1, 0),
      center: { x: end.x + horizontal.reach, y: start.y + middle(index, right) * inner.height },
    })),
    ...times(across, (index) => ({
      ...vertical,
      ...facing(0, -1),
      center: { x: end.x - middle(index, across) * inner.width, y: end.y + vertical.reach },
    })),
    ...times(left, (index) => ({
      ...horizontal,
      ...facing(1, 0),
      center: { x: start.x - horizontal.reach, y: end.y - middle(index, left) * inner.height },
    })),
  ]
  return { boxes, width: end.x + start.x, height: end.y + start.y }
}

function times<T>(count: number, make: (index: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

function facing(x: number, y: number): Pick<Box, 'inward' | 'along'> {
  return { inward: { x, y }, along: { x: y, y: -x } }
}
