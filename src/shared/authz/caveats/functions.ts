import {
  CelScalar,
  celFunc,
  celList,
  celMethod,
  isCelList,
  isCelMap,
  listType,
  mapType,
  objectType,
  type CelFunc,
  type CelList,
  type CelMap,
  type CelValue,
} from '@bufbuild/cel'
import { isInNetwork } from './ip-address.ts'
import { IP_MESSAGE, ipAddressOf } from './ip-message.ts'
import type { Meter } from './meter.ts'

const { BOOL, BYTES, DYN, INT, STRING } = CelScalar
const LIST = listType(DYN)
const MAP = mapType(STRING, DYN)

/** Elements of a list, characters or bytes that an expression may concatenate. */
const LENGTH_MAX = 200_000

/** Elements of a list that are copied for one unit of cost. */
const COPIES_A_UNIT = 128

/** Called once for each round of a loop, with the loop's condition and the cost of the round. */
export const TICK = '@tick'

/** Called with the range of a loop, before the loop. */
export const RANGE = '@range'

/** Elements of a range that cost one unit to line up. */
const ELEMENTS_A_UNIT = 8

/** SpiceDB's own functions, the cost of loops, and functions that must be bounded because they concatenate values. */
export function ownFunctions(meter: Meter): CelFunc[] {
  /** Elements of the lists that were put together here, which macros do element by element. */
  const elements = new WeakMap<CelList, readonly CelValue[]>()

  function concat(a: CelList, b: CelList): CelList {
    bounded(a.size + b.size)
    meter.charge((a.size + b.size) / COPIES_A_UNIT)
    const both = (elements.get(a) ?? [...a]).concat(elements.get(b) ?? [...b])
    const list = celList(both)
    elements.set(list, both)
    return list
  }

  return [
    celFunc(TICK, [BOOL, INT], BOOL, (condition, units) => {
      meter.charge(Number(units))
      return condition
    }),
    celFunc(RANGE, [DYN], DYN, (range) => {
      if (isCelList(range) || isCelMap(range)) meter.charge(1 + range.size / ELEMENTS_A_UNIT)
      return range
    }),
    celFunc('_+_', [STRING, STRING], STRING, (a, b) => bounded(a.length + b.length) && a + b),
    celFunc('_+_', [BYTES, BYTES], BYTES, (a, b) => bounded(a.length + b.length) && joined(a, b)),
    celFunc('_+_', [LIST, LIST], LIST, concat),
    celMethod('in_cidr', objectType(IP_MESSAGE), [STRING], BOOL, function (network) {
      const contains = isInNetwork(ipAddressOf(this), network)
      if (contains === undefined) throw new Error('not a network')
      return contains
    }),
    celMethod('isSubtreeOf', MAP, [MAP], BOOL, function (other) {
      return isSubtree(this, other, meter)
    }),
  ]
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length)
  bytes.set(a)
  bytes.set(b, a.length)
  return bytes
}

function bounded(length: number): true {
  if (length > LENGTH_MAX) throw new Error(`expected at most ${LENGTH_MAX} elements or characters together`)
  return true
}

/** Whether the other map has everything of this one. Lists cannot be compared so, as in SpiceDB. */
function isSubtree(map: CelMap, other: CelMap, meter: Meter): boolean {
  for (const [key, value] of map) {
    meter.charge(1)
    const found: CelValue | undefined = other.get(key)
    const isWithin = isCelMap(value) ? isCelMap(found) && isSubtree(value, found, meter) : isIdentical(value, found)
    if (!isWithin) return false
  }
  return true
}

function isIdentical(a: CelValue, b: CelValue | undefined): boolean {
  if (isCelList(a) && isCelList(b)) throw new Error('lists cannot be compared')
  return a === b
}
