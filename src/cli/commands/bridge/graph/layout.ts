import { labelWidth } from '../../nodes/topology/svg/markup.ts'
import { targetsOf, type BridgePicture, type Item } from './picture.ts'

export const FONT = 13
export const LINE = 17
const PADDING = 12
/** Between boxes above each other, between columns, and between bridges. */
const GAP = 18
const CHANNEL = 90
const BAND_GAP = 48

/** A box in its place, in px from the upper left corner of the drawing. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly item: Item
}

/** The boxes of one bridge, column by column. */
export interface Band {
  readonly picture: BridgePicture
  readonly bridge: Box
  readonly sides: readonly Box[]
  readonly entrances: readonly Box[]
  readonly targets: readonly Box[]
}

export interface Layout {
  readonly bands: readonly Band[]
  readonly width: number
  readonly height: number
}

/** Places sites and users left, bridges in the middle, and ingress hosts before their nodes right; bridges below each other. */
export function layout(pictures: readonly BridgePicture[]): Layout {
  const columns = columnsOf(pictures)
  const bands: Band[] = []
  let y = 0
  for (const picture of pictures) {
    const { band, height } = bandOf(picture, columns, y)
    bands.push(band)
    y += height + BAND_GAP
  }
  const last = columns.at(-1)
  return { bands, width: last === undefined ? 0 : last.x + last.width, height: Math.max(0, y - BAND_GAP) }
}

interface Column {
  readonly x: number
  readonly width: number
}

type Columns = readonly [sides: Column, bridges: Column, entrances: Column, targets: Column]

function columnsOf(pictures: readonly BridgePicture[]): Columns {
  const widths = [
    widthOf(pictures.flatMap(({ sides }) => sides)),
    widthOf(pictures.map(({ bridge }) => bridge)),
    widthOf(pictures.flatMap(({ entrances }) => entrances)),
    widthOf(pictures.flatMap((picture) => targetsOf(picture).map(asItem))),
  ] as const
  const column = (index: 0 | 1 | 2 | 3): Column => ({ x: startOf(widths, index), width: widths[index] })
  return [column(0), column(1), column(2), column(3)]
}

/** A column that nothing is in takes no room. */
function startOf(widths: readonly number[], index: number): number {
  return widths.slice(0, index).reduce((sum, width) => sum + (width === 0 ? 0 : width + CHANNEL), 0)
}

function asItem(name: string): Item {
  return { name, lines: [] }
}

function widthOf(items: readonly Item[]): number {
  if (items.length === 0) return 0
  return (
    labelWidth(
      items.flatMap(({ name, lines }) => [name, ...lines]),
      FONT,
    ) +
    2 * PADDING
  )
}

function heightOf({ lines }: Item): number {
  return (lines.length + 1) * LINE + 2 * PADDING
}

function bandOf(picture: BridgePicture, [left, middle, right, far]: Columns, y: number) {
  const { bridge, sides, entrances } = picture
  const height = Math.max(stackHeight(sides), heightOf(bridge), stackHeight(entrances))
  const center = y + height / 2
  const placedEntrances = stacked(entrances, right, center)
  const targets = targetsOf(picture).map((name): Box => {
    const own = placedEntrances.filter((_, at) => entrances[at]?.target === name)
    const middleOfOwn = own.reduce((sum, box) => sum + box.y + box.height / 2, 0) / Math.max(1, own.length)
    return boxAt(asItem(name), far, middleOfOwn)
  })
  const band: Band = {
    picture,
    bridge: boxAt(bridge, middle, center),
    sides: stacked(sides, left, center),
    entrances: placedEntrances,
    targets,
  }
  return { band, height }
}

function stackHeight(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + heightOf(item) + GAP, 0) - (items.length === 0 ? 0 : GAP)
}

function stacked(items: readonly Item[], column: Column, center: number): readonly Box[] {
  let y = center - stackHeight(items) / 2
  return items.map((item) => {
    const height = heightOf(item)
    const box = boxAt(item, column, y + height / 2)
    y += height + GAP
    return box
  })
}

function boxAt(item: Item, { x, width }: Column, center: number): Box {
  const height = heightOf(item)
  return { x, y: center - height / 2, width, height, item }
}
