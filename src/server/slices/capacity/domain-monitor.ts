import {
  CAPACITY_DIMENSIONS,
  DIMENSION_FACTS,
  type CapacityDimension,
  type CountedDimension,
  type LevelDimension,
} from '../../../shared/capacity/dimensions.ts'
import { nextRate, type CountedRate } from './counted-rate.ts'
import { detect } from './crossing-detector.ts'
import { daysUntilFull } from './usage-trend.ts'

/** What one sample found in the datastore. */
export interface Found {
  /** Every Domain that there is. */
  readonly domainIds: readonly string[]
  readonly levels: ByDomain<LevelDimension, number>
  /** Undefined where this replica could not write what it counted: its rates are left as they were. */
  readonly totals: ByDomain<CountedDimension, bigint> | undefined
  targetOf(domainId: string, dimension: CapacityDimension): number
}

/** Values by Domain and dimension; one that is missing is 0. */
export type ByDomain<Dimension, Value> = ReadonlyMap<string, ReadonlyMap<Dimension, Value>>

/** When a sample was taken. */
export interface SampleTime {
  /** On the clock of the system. */
  readonly nowMs: number
  /** On the monotonic clock, which rates are measured with. */
  readonly elapsedMs: number
}

/** A crossing that a sample found. */
export interface Crossing {
  readonly domainId: string
  readonly dimension: CapacityDimension
  /** Whether nothing was measured before it: the dimension was over the threshold when this process began. */
  readonly isFirst: boolean
}

/** One dimension of a Domain, as of the last sample. */
export interface DimensionUse {
  readonly dimension: CapacityDimension
  readonly used: number
  readonly target: number
  /** Null without a target. */
  readonly ratio: number | null
  readonly isOver: boolean
  /** Crossings that this process has seen. */
  readonly crossings: number
  readonly daysUntilFull: number | null
}

/** A Domain all of whose dimensions have been sampled. */
export interface DomainUse {
  readonly domainId: string
  readonly dimensions: readonly DimensionUse[]
}

/** Growth a day of the levels of each Domain. */
export type Growth = ByDomain<LevelDimension, number>

/** What this process knows of the use of every Domain. It is in memory alone, and there is none of a Domain that is gone. */
export interface DomainMonitor {
  /** Takes a sample; returns the crossings that it finds. */
  observe(found: Found, at: SampleTime): readonly Crossing[]
  /** Takes the growth that the history shows. */
  grown(growth: Growth): void
  /** The time of the last sample on the clock of the system; undefined before the first. */
  sampledAtMs(): number | undefined
  /** Undefined for a Domain whose first sample is not complete. */
  of(domainId: string): DomainUse | undefined
  all(): readonly DomainUse[]
}

interface DimensionState {
  used: number | undefined
  target: number
  rate: CountedRate | undefined
  isOver: boolean
  isMeasured: boolean
  crossings: number
}

type DomainState = ReadonlyMap<CapacityDimension, DimensionState>

/** A value that a sample has of a dimension. */
interface Measured {
  readonly used: number
  readonly isMeasured: boolean
}

export function createDomainMonitor(): DomainMonitor {
  let states = new Map<string, DomainState>()
  let growth: Growth = new Map()
  let sampledAtMs: number | undefined

  function useOf(domainId: string, state: DomainState): DomainUse | undefined {
    const dimensions: DimensionUse[] = []
    for (const [dimension, { used, target, isOver, crossings }] of state) {
      if (used === undefined) return undefined
      const perDay = isLevel(dimension) ? growth.get(domainId)?.get(dimension) : undefined
      const days = isLevel(dimension) ? daysUntilFull({ used, target }, perDay) : null
      dimensions.push({
        dimension,
        used,
        target,
        ratio: ratioOf(used, target),
        isOver,
        crossings,
        daysUntilFull: days,
      })
    }
    return { domainId, dimensions }
  }

  return {
    observe(found, at) {
      const kept = new Map(found.domainIds.map((id) => [id, states.get(id) ?? newState()]))
      states = kept
      sampledAtMs = at.nowMs
      const crossings: Crossing[] = []
      for (const [domainId, state] of kept)
        for (const [dimension, own] of state) {
          own.target = found.targetOf(domainId, dimension)
          const measured = measure({ domainId, dimension, own }, found, at.elapsedMs)
          if (measured !== undefined && hasCrossed(own, measured))
            crossings.push({ domainId, dimension, isFirst: !own.isMeasured })
          own.isMeasured ||= measured?.isMeasured === true
        }
      return crossings
    },
    grown(next) {
      growth = next
    },
    sampledAtMs: () => sampledAtMs,
    of(domainId) {
      const state = states.get(domainId)
      return state && useOf(domainId, state)
    },
    all: () => [...states].flatMap(([domainId, state]) => useOf(domainId, state) ?? []),
  }
}

function newState(): DomainState {
  return new Map(
    CAPACITY_DIMENSIONS.map((dimension) => [
      dimension,
      { used: undefined, target: 0, rate: undefined, isOver: false, isMeasured: false, crossings: 0 },
    ]),
  )
}

interface Measuring {
  readonly domainId: string
  readonly dimension: CapacityDimension
  readonly own: DimensionState
}

/** Undefined where the sample leaves the dimension out. */
function measure({ domainId, dimension, own }: Measuring, found: Found, atMs: number): Measured | undefined {
  if (isLevel(dimension)) return { used: found.levels.get(domainId)?.get(dimension) ?? 0, isMeasured: true }
  if (found.totals === undefined) return undefined
  own.rate = nextRate(own.rate, { total: found.totals.get(domainId)?.get(dimension) ?? 0n, atMs })
  return { used: own.rate.perSecond, isMeasured: own.rate.isMeasured }
}

/** Takes the value over, and says whether it crosses the threshold. */
function hasCrossed(own: DimensionState, { used }: Measured): boolean {
  own.used = used
  const detected = detect(own.isOver, ratioOf(used, own.target))
  own.isOver = detected.isOver
  if (detected.hasCrossed) own.crossings += 1
  return detected.hasCrossed
}

function ratioOf(used: number, target: number): number | null {
  return target === 0 ? null : used / target
}

function isLevel(dimension: CapacityDimension): dimension is LevelDimension {
  return DIMENSION_FACTS[dimension].kind === 'level'
}
