import { ARCHITECTURE, CHECKSUM } from '../binary.ts'
import { PLAN_MAX, DEFAULT_HABITS } from '../plan.ts'
import type { Rates } from './rates.ts'
import { duration, listOf, matching, objectOf, rate, share, text, whole, type Reader } from './values.ts'
import type { Fault, Phase, Scenario } from './scenario.ts'
import { readYaml, type Place } from './yaml-place.ts'

/**
 * Reads a scenario (docs/agent-sim.md).
 *
 * @throws YamlFault with the line, the error and the accepted values.
 */
export function readScenario(source: string): Scenario {
  const place = readYaml(source)
  const {
    edges,
    execution_failures,
    upgrade_failures,
    wrong_checksums,
    rates = {},
    phases,
    ...binary
  } = document(place)
  if (phases === undefined || phases.length === 0) throw place.fault('phases: there must be one at least')
  return {
    edges,
    executionFailures: execution_failures,
    upgradeFailures: upgrade_failures,
    wrongChecksums: wrong_checksums,
    binaries: binariesIn(binary),
    rates,
    phases,
  }
}

function binariesIn(members: BinaryMembers): Scenario['binaries'] {
  const { binary_version: version, binary_checksum: checksum, architectures } = members
  return {
    ...(version !== undefined && { version }),
    ...(checksum !== undefined && { checksum }),
    ...(architectures !== undefined && { architectures }),
  }
}

interface BinaryMembers {
  readonly binary_version?: string
  readonly binary_checksum?: string
  readonly architectures?: readonly string[]
}

const architectures: Reader<readonly string[]> = (place) => {
  const found = listOf(matching(ARCHITECTURE, 'an architecture such as x86_64'))(place)
  if (found.length === 0 || found.length > PLAN_MAX.architectures)
    throw place.fault(`must name 1 to ${PLAN_MAX.architectures} architectures`)
  return found
}

const RATE_NAMES = Object.keys(DEFAULT_HABITS.rates) as readonly (keyof Rates)[]

// The keys are the names of the rates.
const rates = objectOf(Object.fromEntries(RATE_NAMES.map((name) => [name, rate]))) as Reader<Partial<Rates>>

const DEFAULT_SKEW_MS = 61_000
const DEFAULT_DELAY_MS = 1_000
/** Default share of the nodes that a fault affects. */
const DEFAULT_SHARE = 0.1

/** The reader of each fault, with its members and their defaults. */
const FAULTS: { readonly [Kind in Fault['kind']]: Reader<Fault> } = {
  clock_skew: faultReader(
    objectOf({ share, skew: duration }),
    ({ share: of = DEFAULT_SHARE, skew = DEFAULT_SKEW_MS }) => ({
      kind: 'clock_skew',
      share: of,
      skewMs: skew,
    }),
  ),
  reconnect_herd: faultReader(objectOf({ share }), ({ share: of = 1 }) => ({ kind: 'reconnect_herd', share: of })),
  revoked_nsk: faultReader(objectOf({ nodes: whole(1, 100) }), ({ nodes = 1 }) => ({ kind: 'revoked_nsk', nodes })),
  duplicate_calls: faultReader(objectOf({ share }), ({ share: of = DEFAULT_SHARE }) => ({
    kind: 'duplicate_calls',
    share: of,
  })),
  reordered_calls: faultReader(objectOf({ share }), ({ share: of = DEFAULT_SHARE }) => ({
    kind: 'reordered_calls',
    share: of,
  })),
  slow_reader: faultReader(
    objectOf({ share, delay: duration }),
    ({ share: of = DEFAULT_SHARE, delay = DEFAULT_DELAY_MS }) => ({
      kind: 'slow_reader',
      share: of,
      delayMs: delay,
    }),
  ),
  server_restart: faultReader(objectOf({}), () => ({ kind: 'server_restart' })),
  bridge_failures: faultReader(objectOf({ share }), ({ share: of = DEFAULT_SHARE }) => ({
    kind: 'bridge_failures',
    share: of,
  })),
  host_restarts: faultReader(objectOf({ share }), ({ share: of = DEFAULT_SHARE }) => ({
    kind: 'host_restarts',
    share: of,
  })),
  endpoint_storm: faultReader(objectOf({ rate }), ({ rate: of = 1 }) => ({ kind: 'endpoint_storm', rate: of })),
}

/** Reads a fault. An empty one, such as `server_restart:`, has the default values. */
function faultReader<T>(read: Reader<T>, make: (value: Partial<T>) => Fault): Reader<Fault> {
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

const document: Reader<
  BinaryMembers & {
    readonly name?: string
    readonly edges?: number
    readonly execution_failures?: number
    readonly upgrade_failures?: number
    readonly wrong_checksums?: number
    readonly rates?: Partial<Rates>
    readonly phases?: readonly Phase[]
  }
> = (place: Place) =>
  objectOf({
    name: text,
    edges: whole(0, PLAN_MAX.edges),
    execution_failures: share,
    upgrade_failures: share,
    wrong_checksums: share,
    binary_version: text,
    binary_checksum: matching(CHECKSUM, '64 hex digits'),
    architectures,
    rates,
    phases: listOf(phase),
  })(place)
