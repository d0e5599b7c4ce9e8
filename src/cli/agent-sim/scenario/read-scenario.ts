import { PLAN_MAX, USUAL_HABITS } from '../plan.ts'
import type { Rates } from './rates.ts'
import { duration, listOf, objectOf, rate, share, text, whole, type Reader } from './values.ts'
import type { Fault, Phase, Scenario } from './scenario.ts'
import { readYaml, type Place } from './yaml-place.ts'

/**
 * Reads a scenario (docs/agent-sim.md).
 *
 * @throws YamlFault naming the line, what is wrong there and what may stand there.
 */
export function readScenario(source: string): Scenario {
  const place = readYaml(source)
  const { edges, execution_failures, rates = {}, phases } = document(place)
  if (phases === undefined || phases.length === 0) throw place.fault('phases: there must be one at least')
  return { edges, executionFailures: execution_failures, rates, phases }
}

const RATE_NAMES = Object.keys(USUAL_HABITS.rates) as readonly (keyof Rates)[]

// The names are those of the rates: an object of readers over them reads them.
const rates = objectOf(Object.fromEntries(RATE_NAMES.map((name) => [name, rate]))) as Reader<Partial<Rates>>

const SKEW_MS = 61_000
const SLOW_MS = 1_000
/** What one of ten is, where a fault is not told for how many. */
const SOME = 0.1

/** Each fault by its name, with what it takes and what holds where that is not said. */
const FAULTS: { readonly [Kind in Fault['kind']]: Reader<Fault> } = {
  clock_skew: given(objectOf({ share, skew: duration }), ({ share: of = SOME, skew = SKEW_MS }) => ({
    kind: 'clock_skew',
    share: of,
    skewMs: skew,
  })),
  reconnect_herd: given(objectOf({ share }), ({ share: of = 1 }) => ({ kind: 'reconnect_herd', share: of })),
  revoked_nsk: given(objectOf({ nodes: whole(1, 100) }), ({ nodes = 1 }) => ({ kind: 'revoked_nsk', nodes })),
  duplicate_calls: given(objectOf({ share }), ({ share: of = SOME }) => ({ kind: 'duplicate_calls', share: of })),
  reordered_calls: given(objectOf({ share }), ({ share: of = SOME }) => ({ kind: 'reordered_calls', share: of })),
  slow_reader: given(objectOf({ share, delay: duration }), ({ share: of = SOME, delay = SLOW_MS }) => ({
    kind: 'slow_reader',
    share: of,
    delayMs: delay,
  })),
  server_restart: given(objectOf({}), () => ({ kind: 'server_restart' })),
  endpoint_storm: given(objectOf({ rate }), ({ rate: of = 1 }) => ({ kind: 'endpoint_storm', rate: of })),
}

/** A fault for which nothing is said, `server_restart:`, is one for which everything is as usual. */
function given<T>(read: Reader<T>, make: (value: Partial<T>) => Fault): Reader<Fault> {
  return (place) => make(place.value === null ? {} : read(place))
}

const faults: Reader<readonly Fault[]> = (place) =>
  [...place.members(Object.keys(FAULTS))].map(([kind, member]) => FAULTS[kind as Fault['kind']](member))

const phase: Reader<Phase> = (place) => {
  const read = objectOf({ name: text, duration, rates, faults })(place)
  if (read.duration === undefined) throw place.fault('needs a duration')
  return {
    name: read.name ?? place.path,
    durationMs: read.duration,
    rates: read.rates ?? {},
    faults: read.faults ?? [],
  }
}

const document: Reader<{
  readonly name?: string
  readonly edges?: number
  readonly execution_failures?: number
  readonly rates?: Partial<Rates>
  readonly phases?: readonly Phase[]
}> = (place: Place) =>
  objectOf({
    name: text,
    edges: whole(0, PLAN_MAX.edges),
    execution_failures: share,
    rates,
    phases: listOf(phase),
  })(place)
