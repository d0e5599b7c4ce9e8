import { afterEach, describe, expect, test } from 'vitest'
import { TransportFailure } from '../../../../src/client/failures.ts'
import { reportCapabilities } from '../../../../src/cli/agent-sim/agent/capabilities.ts'
import { handleEvent } from '../../../../src/client/agent/events/handle-event.ts'
import { keepReporting } from '../../../../src/cli/agent-sim/agent/heartbeat.ts'
import { alterHook } from '../../../../src/cli/agent-sim/agent/integrity.ts'
import { sha256 } from '../../../../src/cli/agent-sim/binary.ts'
import { binariesOf, upgradesOf } from '../../../../src/cli/agent-sim/binary-flags.ts'
import { readScenario } from '../../../../src/cli/agent-sim/scenario/read-scenario.ts'
import { simulatedNode } from '../../../../src/cli/agent-sim/simulated-node.ts'
import type { ReceivedEnvelope } from '../../../../src/shared/events/signed-envelope.ts'
import { agentWorld, id, refusal, type Answers, type AgentWorld } from '../../../support/fleet/mesh-agents.ts'

const worlds: AgentWorld[] = []
afterEach(() => worlds.splice(0).forEach((world) => world.end()))

const CHECKSUM = 'ab'.repeat(32)
const RELEASE = {
  version: '1.5.0',
  support_status: 'supported',
  verdict: 'verified',
  architectures: [
    { architecture: 'aarch64', checksum: 'cd'.repeat(32) },
    { architecture: 'x86_64', checksum: CHECKSUM },
  ],
}

interface Options extends NonNullable<Pick<Parameters<typeof agentWorld>[0], 'habits'>> {
  readonly release?: () => unknown
  readonly answers?: Answers
}

/** What the agent sends, as far as the tests look at it. */
interface Body {
  readonly status?: string
  readonly error?: string
  readonly hooks?: readonly { readonly checksum: string }[]
  readonly violations?: readonly object[]
}

/** An agent of a server that has the release and takes every report. */
function upgrading({ habits = {}, release = () => RELEASE, answers = {} }: Options = {}) {
  const world = agentWorld({
    habits,
    answers: {
      GetPlexdArtifact: release,
      PostExecutionCallback: () => undefined,
      PutNodeCapabilities: () => ({}),
      PostNodeIntegrityViolations: () => ({ violation_count: 1 }),
      PostNodeHeartbeat: () => ({ accepted_at: '2026-01-01T00:00:00Z', reconcile: false, rotate_keys: false }),
      ...answers,
    },
  })
  worlds.push(world)
  const [node] = world.nodes
  if (node === undefined) throw new Error('no node')
  const bodies = (operation: string): readonly Body[] =>
    world.calls.filter((call) => call.operation === operation).map(({ input }) => input['body'] as Body)
  return {
    ...world,
    node,
    bodies,
    /** The status and the error of each report about an execution. */
    said: () =>
      bodies('PostExecutionCallback').map(({ status, error }) =>
        error === undefined ? status : `${String(status)}: ${error}`,
      ),
    async upgrade(parameters: object = { version: '1.5.0' }, execution = 1) {
      const envelope: ReceivedEnvelope = {
        api_version: 'v1',
        domain_id: id(900),
        event_id: id(901),
        kid: 'k',
        node_id: id(1),
        node_seq: 1,
        occurred_at: '2026-01-01T00:00:00.000Z',
        payload: {
          execution_id: id(execution),
          action: 'upgrade_agent',
          type: 'builtin',
          status: 'pending',
          parameters,
          requested_at: '2026-01-01T00:00:00.000Z',
          expires_at: '2026-01-01T00:05:00.000Z',
        },
        type: 'action_request',
      }
      handleEvent(world.deps, node, { envelope, place: { kind: 'next' } })
      await world.clock.advance(1_000)
    },
  }
}

describe('An agent that is asked to upgrade', () => {
  test('reads the release with its own key, and reports the version and its checksum from then on', async () => {
    const world = upgrading()
    await world.upgrade()
    expect(world.said()).toEqual(['ack', 'started', 'succeeded'])
    const read = world.calls.find(({ operation }) => operation === 'GetPlexdArtifact')
    expect([read?.input, read?.token]).toEqual([{ version: '1.5.0' }, world.node.identity.nsk])
    expect(world.bodies('PutNodeCapabilities')).toMatchObject([{ binary_version: '1.5.0', binary_checksum: CHECKSUM }])
    keepReporting(world.deps, world.node, { intervalMs: 1_000, until: world.deps.until })
    await world.clock.advance(100)
    expect(world.bodies('PostNodeHeartbeat')).toMatchObject([{ binary_version: '1.5.0', binary_checksum: CHECKSUM }])
    expect(['upgrades', 'upgrades_failed', 'violations_reported', 'errors'].map(world.count)).toEqual([1, 0, 0, 0])
  })

  test.each([
    [
      'is unverified',
      { ...RELEASE, verdict: 'unverified', verdict_reason: 'another identity signed it' },
      'release 1.5.0 is unverified: another identity signed it',
    ],
    ['is unverified for no reason', { ...RELEASE, verdict: 'unverified' }, 'release 1.5.0 is unverified'],
    ['was withdrawn', { ...RELEASE, support_status: 'withdrawn' }, 'release 1.5.0 was withdrawn'],
    [
      'lacks its architecture',
      { ...RELEASE, architectures: RELEASE.architectures.slice(0, 1) },
      'release 1.5.0 has nothing for the architecture x86_64',
    ],
  ])('fails where the release %s, and goes on with what it runs', async (_, release, reason) => {
    const world = upgrading({ release: () => release })
    await world.upgrade()
    expect(world.said()).toEqual(['ack', 'started', `failed: ${reason}`])
    expect(world.node.binary).toMatchObject({ version: 'agent-sim', checksum: sha256('agent-sim') })
    expect(['upgrades', 'upgrades_failed', 'errors'].map(world.count)).toEqual([0, 1, 0])
  })

  test('fails where the release is unknown', async () => {
    const world = upgrading({
      release: () => {
        throw refusal(404, 'release_not_found')
      },
    })
    await world.upgrade()
    expect(world.said().at(-1)).toBe('failed: release 1.5.0 cannot be read: release_not_found')
    expect([world.count('upgrades_failed'), world.count('errors')]).toEqual([1, 0])
  })

  test('fails where the checksum is not the one that it was asked for', async () => {
    const world = upgrading()
    await world.upgrade({ version: '1.5.0', checksum: 'ef'.repeat(32) })
    expect(world.said().at(-1)).toBe('failed: release 1.5.0 has another checksum than the one asked for')
    await world.upgrade({ version: '1.5.0', checksum: CHECKSUM }, 2)
    expect(world.said().at(-1)).toBe('succeeded')
  })

  test('does not change when the upgrade was cancelled meanwhile', async () => {
    const world = upgrading({
      answers: {
        PostExecutionCallback: ({ input }) => {
          if ((input['body'] as { status: string }).status === 'succeeded') throw refusal(409, 'illegal_transition')
        },
      },
    })
    await world.upgrade()
    expect([world.node.binary.version, world.count('upgrades'), world.count('overtaken')]).toEqual(['agent-sim', 0, 1])
  })

  test('reports again what got no answer, until it gets one', async () => {
    let reports = 0
    const world = upgrading({
      answers: {
        PostExecutionCallback: () => {
          reports += 1
          if (reports === 1) throw new TransportFailure('timeout', 'no answer')
        },
      },
    })
    await world.upgrade()
    expect(world.said()).toEqual(['ack'])
    await world.clock.advance(6_000)
    expect(world.said()).toEqual(['ack', 'ack', 'started', 'succeeded'])
    expect([world.count('upgrades'), world.count('errors')]).toEqual([1, 1])
  })

  test('needs no release where no version is named', async () => {
    const world = upgrading({ habits: { executionFailures: 0 } })
    await world.upgrade({})
    expect([world.said().at(-1), world.called().includes('GetPlexdArtifact')]).toEqual(['succeeded', false])
  })

  test('fails in the planned share of executions', async () => {
    const world = upgrading({ habits: { upgradeFailures: 1 } })
    await world.upgrade()
    expect(world.said().at(-1)).toBe('failed: 1.5.0 did not start in the simulation')
  })

  test('lies in the planned share: it reports the version with a wrong checksum, and a violation every minute', async () => {
    const world = upgrading({ habits: { wrongChecksums: 1 } })
    await world.upgrade()
    const wrong = sha256('altered 1.5.0')
    expect(world.said().at(-1)).toBe('succeeded')
    expect(world.bodies('PutNodeCapabilities')).toMatchObject([{ binary_version: '1.5.0', binary_checksum: wrong }])
    await world.clock.advance(61_000)
    const violation = {
      kind: 'binary',
      artifact: '/usr/local/bin/agent-sim',
      expected_checksum: CHECKSUM,
      observed_checksum: wrong,
    }
    const reported = world.bodies('PostNodeIntegrityViolations')
    expect(reported.flatMap(({ violations = [] }) => violations)).toMatchObject([violation, violation])
    expect([world.count('upgrades'), world.count('violations_reported')]).toEqual([1, 2])
  })

  test('stops to report the violation once it runs what it should', async () => {
    const world = upgrading({ habits: { wrongChecksums: 1 } })
    await world.upgrade()
    world.node.binary = { ...world.node.binary, checksum: CHECKSUM }
    await world.clock.advance(61_000)
    expect(world.count('violations_reported')).toBe(1)
  })

  test('is outdated unless it runs the release that was asked for last', async () => {
    const world = upgrading({ habits: { wrongChecksums: 0.5, upgradeFailures: 0 } })
    const { wanted } = world.deps.mesh
    expect(wanted.isOutdated(world.node)).toBe(false)
    wanted.asked('1.5.0')
    expect(wanted.isOutdated(world.node)).toBe(true)
    await world.upgrade({ version: '1.5.0' }, Number('999999999999'))
    expect([world.node.binary.version, wanted.isOutdated(world.node)]).toEqual(['1.5.0', false])
    world.node.binary = { ...world.node.binary, checksum: 'ef'.repeat(32) }
    expect(wanted.isOutdated(world.node)).toBe(true)
    wanted.asked('1.4.0')
    expect(wanted.isOutdated(world.node)).toBe(true)
  })
})

describe('An agent whose hook is altered', () => {
  test('reports it at once, and its right checksum again when that is over', async () => {
    const world = upgrading()
    await alterHook(world.deps, world.node)
    const hooksOf = ({ hooks = [] }: Body) => hooks.map(({ checksum }) => checksum)
    const [right, other] = [sha256('simulated-backup'), sha256('simulated-restart')]
    const wrong = sha256('altered simulated-backup 0')
    await world.clock.advance(61_000)
    expect(world.bodies('PutNodeCapabilities').map(hooksOf)).toEqual([
      [wrong, other],
      [right, other],
    ])
    expect(world.bodies('PostNodeIntegrityViolations')).toMatchObject([
      {
        violations: [
          { kind: 'hook', artifact: 'simulated-backup', expected_checksum: right, observed_checksum: wrong },
        ],
      },
    ])
  })

  test('repeats the report every minute while it lasts, and has one violation at a time', async () => {
    const world = upgrading()
    const clock = { ...world.clock, random: () => 0.25 }
    const deps = { ...world.deps, clock }
    await alterHook(deps, world.node)
    await alterHook(deps, world.node)
    await world.clock.advance(130_000)
    // A quarter of five minutes: at once and after a minute.
    expect([world.count('violations_reported'), world.node.alteredHook]).toEqual([2, undefined])
  })
})

describe('The binaries of a fleet', () => {
  test('are those of the plan, one architecture after the other; a stored node keeps its own', () => {
    const binaries = { version: '1.4.0', checksum: CHECKSUM, architectures: ['x86_64', 'aarch64'] }
    const identity = { node_id: id(1), name: 'n', nsk: '', private_key: '' }
    const made = [0, 1, 2].map((place) => simulatedNode(identity, place, binaries).binary.architecture)
    expect(made).toEqual(['x86_64', 'aarch64', 'x86_64'])
    const binary = { version: '1.5.0', checksum: 'a', expected_checksum: 'b', architecture: 'riscv64' }
    expect(simulatedNode({ ...identity, binary }, 0, binaries).binary).toEqual(binary)
  })

  test('have the checksum of the text of their version where none is given', () => {
    expect(binariesOf({ 'binary-version': '1.4.0' }, undefined)).toEqual({
      version: '1.4.0',
      checksum: sha256('1.4.0'),
      architectures: ['x86_64'],
    })
  })

  test('are read from a scenario, and flags override it', () => {
    const scenario = readScenario(`
binary_version: "1.4.0"
binary_checksum: ${CHECKSUM}
architectures: [aarch64, x86_64]
upgrade_failures: 3%
wrong_checksums: 1%
phases: [{ duration: 5s }]
`)
    expect(binariesOf({}, scenario)).toEqual({
      version: '1.4.0',
      checksum: CHECKSUM,
      architectures: ['aarch64', 'x86_64'],
    })
    expect(upgradesOf({}, scenario)).toEqual({ upgradeFailures: 0.03, wrongChecksums: 0.01 })
    expect(binariesOf({ 'binary-version': '1.3.0', architectures: ['riscv64'] }, scenario)).toMatchObject({
      version: '1.3.0',
      checksum: sha256('1.3.0'),
      architectures: ['riscv64'],
    })
    expect(upgradesOf({ 'upgrade-failures': '100%', 'wrong-checksums': '0%' }, scenario)).toEqual({
      upgradeFailures: 1,
      wrongChecksums: 0,
    })
  })

  test.each([
    [{ 'binary-version': '' }, '--binary-version takes 1 to 128 characters'],
    [{ 'binary-checksum': 'abc' }, '--binary-checksum takes 64 hex digits'],
    [{ architectures: ['X86'] }, '--architectures takes 1 to 16 names'],
    [{ architectures: [] }, '--architectures takes 1 to 16 names'],
  ])('of %o are refused', (flags, said) => {
    expect(() => binariesOf(flags, undefined)).toThrow(said)
  })

  test.each([
    [{ 'upgrade-failures': '3' }, '--upgrade-failures takes a share from 0% to 100%'],
    [{ 'wrong-checksums': '101%' }, '--wrong-checksums takes a share from 0% to 100%'],
    [{ 'upgrade-failures': '60%', 'wrong-checksums': '50%' }, 'are together at most 100%'],
  ])('%o is refused', (flags, said) => {
    expect(() => upgradesOf(flags, undefined)).toThrow(said)
  })

  test.each([
    ['architectures: []', 'architectures: must name 1 to 16 architectures'],
    ['architectures: [A]', 'architectures[0]: must be an architecture such as x86_64'],
    ['binary_checksum: abc', 'binary_checksum: must be 64 hex digits'],
    ['binary_version: 1.5', 'binary_version: must be a text'],
    ['wrong_checksums: 2', 'wrong_checksums: must be a share from 0% to 100%'],
  ])('"%s" in a scenario is refused', (line, said) => {
    expect(() => readScenario(`${line}\nphases: [{ duration: 5s }]\n`)).toThrow(said)
  })

  test('are reported with the capabilities at the start', async () => {
    const world = upgrading()
    await reportCapabilities(world.deps, world.node)
    expect(world.bodies('PutNodeCapabilities')).toMatchObject([
      { binary_version: 'agent-sim', binary_checksum: sha256('agent-sim'), architecture: 'x86_64' },
    ])
  })
})
