import { describe, expect, it } from 'vitest'
import type { CliOptions, CliResult } from '../../../../support/cli/cli-run.ts'
import { rotatingFleet, waitingClock, type RotatingFleet } from '../../../../support/fleet/rotating-fleet.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'

const SINCE = '2026-02-01T12:00:00.000000000Z'

describe('ctl nodes rotate', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const ctl = (line: string, { routes }: RotatingFleet, options: CliOptions = {}): Promise<CliResult> =>
    cli.run(line, routes, { ...waitingClock(), ...options })
  const five = (change?: (fleet: RotatingFleet) => void): RotatingFleet =>
    rotatingFleet(['a-1', 'a-2', 'a-3', 'a-4', 'a-5'], change)
  const whole = ({ stdout }: CliResult) => JSON.parse(stdout)

  it('rotates one node, waits for it and prints the handle', async () => {
    const fleet = five()
    const result = await ctl('nodes rotate a-2 --yes -o json', fleet)
    expect([result.exitCode, whole(result).state, fleet.triggered]).toEqual([0, 'completed', ['a-2']])
    expect(result.stderr).toBe('Rotated the keys of a-2: 4 edges.\n')
  })

  it('does not wait where that is said, and says how to look', async () => {
    const fleet = five()
    const result = await ctl('nodes rotate a-2 --yes --no-wait -o json', fleet)
    expect([result.exitCode, whole(result).state]).toEqual([0, 'pending'])
    expect(result.stderr).toBe(
      'Rotation pending for a-2 (4 edges, about 1s). Watch it with: ctl nodes rotate status a-2\n',
    )
  })

  it('exits 10 when one node does not complete in time', async () => {
    const fleet = five((all) => (all.node('a-2').isStuck = true))
    const result = await ctl('nodes rotate a-2 --yes --wave-timeout 30s', fleet)
    expect(result.exitCode).toBe(10)
    expect(result.stderr).toContain('has not ended its rotation within 30s')
  })

  it('goes in waves of so many, and proves at the end that all agree', async () => {
    const fleet = five()
    const result = await ctl('nodes rotate --all --batch 2 --yes -o json', fleet)
    expect(result.exitCode).toBe(0)
    expect(whole(result)).toMatchObject({ waves: 3, ended: 'completed', since: SINCE, resume: null })
    expect(whole(result).proof).toEqual({
      nodes_checked: 5,
      edges_checked: 20,
      agreeing: 5,
      disagreeing: [],
      others_disagreeing: [],
    })
    expect(fleet.triggered.toSorted()).toEqual(['a-1', 'a-2', 'a-3', 'a-4', 'a-5'])
    expect(result.stderr).toContain('Rotated 5 nodes in 3 waves.')
  })

  it('takes parts of a hundred of the nodes for a wave', async () => {
    expect(whole(await ctl('nodes rotate --all --batch 40% --yes -o json', five())).waves).toBe(3)
  })

  it('asks with nodes, edges and waves, and changes nothing without a yes', async () => {
    const fleet = five()
    const result = await ctl('nodes rotate --all --batch 2', fleet, { isTty: true, answers: [false] })
    expect(result.questions).toEqual(['Rotate the keys of 5 nodes (10 edges) in 3 waves, about 23s?'])
    expect([result.exitCode, fleet.triggered]).toEqual([130, []])
  })

  it('fails before anything is asked of the server where nobody can agree', async () => {
    const result = await ctl('nodes rotate --all', five())
    expect([result.exitCode, cli.stub?.seen]).toEqual([2, []])
    expect(result.stderr).toContain('Add --yes')
  })

  it('shows waves and changes nothing with --dry-run', async () => {
    const fleet = five()
    const result = await ctl('nodes rotate --all --batch 2 --dry-run -o json', fleet)
    expect([result.exitCode, fleet.triggered]).toEqual([10, []])
    expect(whole(result)).toMatchObject({ waves: 3, edges: 10, estimated_duration_seconds: 23 })
    expect(whole(result).nodes.map(({ wave }: { wave: number }) => wave)).toEqual([1, 1, 2, 2, 3])
  })

  it('exits 0 from --dry-run when nothing would change', async () => {
    const fleet = five((all) => all.nodes.forEach((node) => (node.psk_issued_at = '2026-02-01T12:00:00.500000000Z')))
    expect((await ctl(`nodes rotate --all --since ${SINCE} --dry-run`, fleet)).exitCode).toBe(0)
  })

  it('goes on with the nodes that stdin named: the printed line runs as it is', async () => {
    const fleet = five((all) => (all.node('a-2').isWrong = true))
    const first = await ctl('nodes rotate - --yes --proof-timeout 10s', fleet, { stdin: 'a-1\na-2\n' })
    expect([first.exitCode, fleet.triggered]).toEqual([10, ['a-1', 'a-2']])
    const line = /Go on with: ctl (.*)\n/.exec(first.stderr)?.[1] ?? ''
    expect(line).toBe(
      `nodes rotate ${fleet.node('a-1').id} ${fleet.node('a-2').id} --yes --proof-timeout 10s --since ${SINCE}`,
    )
    fleet.node('a-2').isWrong = false
    const second = await ctl(line, fleet)
    expect([second.exitCode, fleet.triggered]).toEqual([0, ['a-1', 'a-2']])
    expect(second.stderr).toContain('Rotated 2 nodes: 0 now, 2 before.')
  })

  it('keeps the whole selection of stdin in the line that goes on, also what is rotated', async () => {
    const fleet = five((all) => (all.node('a-2').isStuck = true))
    const { stderr } = await ctl('nodes rotate - --batch 1 --yes', fleet, { stdin: 'a-1\na-2\na-3\n' })
    const ids = ['a-1', 'a-2', 'a-3'].map((name) => fleet.node(name).id).join(' ')
    expect(stderr).toContain(`Go on with: ctl nodes rotate ${ids} --batch 1 --yes --since ${SINCE}\n`)
  })

  it('skips the unreachable ones of the nodes that stdin names, and asks them with --include-unreachable', async () => {
    const silent = (all: RotatingFleet): void => {
      all.node('a-1').reachability = 'unreachable'
      all.node('a-1').isWrong = true
    }
    const fleet = five(silent)
    const result = await ctl('nodes rotate - --yes', fleet, { stdin: 'a-1\na-2\n' })
    expect([result.exitCode, fleet.triggered]).toEqual([10, ['a-2']])
    expect(result.stderr).not.toContain('Go on with')
    expect(result.stderr).toContain(
      'Rotated 1 of 2 nodes in 1 wave. Skipped as unreachable (add --include-unreachable to ask them too): a-1.\n',
    )
    expect(result.stderr).toContain(
      '4 of 5 nodes agree with the server.\nOutside this run, and not in agreement yet: a-1. See: ctl nodes verify-epochs\n',
    )
    const asked = five(silent)
    const all = await ctl('nodes rotate - --yes --include-unreachable --no-proof', asked, { stdin: 'a-1\na-2\n' })
    expect([all.exitCode, asked.triggered]).toEqual([10, ['a-2', 'a-1']])
    const line = /Go on with: ctl (.*)\n/.exec(all.stderr)?.[1] ?? ''
    expect(line).not.toContain('--include-unreachable')
    asked.node('a-1').reachability = 'healthy'
    expect((await ctl(line, asked)).exitCode).toBe(0)
  })

  it('says with --dry-run which nodes it would skip', async () => {
    const fleet = five((all) => (all.node('a-1').reachability = 'unreachable'))
    const options = { stdin: 'a-1\na-2\n' }
    const result = await ctl('nodes rotate - --dry-run', fleet, options)
    expect([result.exitCode, fleet.triggered]).toEqual([10, []])
    expect(result.stderr).toContain('Would skip as unreachable: a-1.\n')
    const data = whole(await ctl('nodes rotate - --dry-run -o json', fleet, options))
    expect(data.skipped).toEqual([{ node_id: fleet.node('a-1').id, display_name: 'a-1' }])
  })

  it('asks an unreachable node that was typed beside those of stdin', async () => {
    const fleet = five((all) => {
      all.node('a-1').reachability = 'unreachable'
      all.node('a-3').reachability = 'unreachable'
    })
    await ctl('nodes rotate a-1 - --yes --no-proof', fleet, { stdin: 'a-2\na-3\n' })
    expect(fleet.triggered).toEqual(['a-2', 'a-1'])
  })

  it('asks an unreachable node that was named', async () => {
    const fleet = five((all) => (all.node('a-1').reachability = 'unreachable'))
    await ctl('nodes rotate a-1 a-2 --yes --no-proof', fleet)
    expect(fleet.triggered).toEqual(['a-2', 'a-1'])
  })

  it('stops with 10 when a condition holds, and says what is left and which command goes on', async () => {
    const fleet = five((all) => (all.node('a-2').isStuck = true))
    const result = await ctl('nodes rotate --all --batch 2 --yes -o json', fleet)
    expect(result.exitCode).toBe(10)
    expect(whole(result)).toMatchObject({ ended: 'paused', paused_on: 'timeout>0 (1 now)', waves: 1, proof: null })
    expect(whole(result).nodes.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'rotated',
      'pending',
      'not_begun',
      'not_begun',
      'not_begun',
    ])
    expect(whole(result).resume).toBe(`ctl nodes rotate --all --batch 2 --yes --output json --since ${SINCE}`)
    expect(result.stderr).toContain('Pending: a-2. Not begun: a-3, a-4, a-5.')
  })

  it('asks on a terminal whether to go on, and asks again only when it is worse', async () => {
    const fleet = five((all) => (all.node('a-2').isStuck = true))
    const result = await ctl('nodes rotate --all --batch 2 --yes --no-proof', fleet, { isTty: true, answers: [true] })
    expect(result.questions).toEqual(['Paused after wave 1: timeout>0 (1 now). Go on?'])
    expect(result.exitCode).toBe(10)
    expect(fleet.triggered).toHaveLength(5)
  })

  it('goes on where it stopped: what is done is left out, what is pending is not triggered again', async () => {
    const fleet = five((all) => {
      all.node('a-1').psk_issued_at = '2026-02-01T12:00:00.500000000Z'
      all.node('a-2').rotation_pending = true
    })
    const result = await ctl(`nodes rotate --all --yes --since ${SINCE} -o json`, fleet)
    expect(result.exitCode).toBe(0)
    expect(fleet.triggered.toSorted()).toEqual(['a-3', 'a-4', 'a-5'])
    expect(whole(result).nodes.every(({ outcome }: { outcome: string }) => outcome === 'rotated')).toBe(true)
  })

  it('counts what this run rotated apart from what was rotated before', async () => {
    const fleet = five((all) => (all.node('a-1').psk_issued_at = '2026-02-01T12:00:00.500000000Z'))
    const { stderr } = await ctl(`nodes rotate --all --yes --since ${SINCE}`, fleet)
    expect(stderr).toContain('Rotated 5 nodes in 1 wave: 4 now, 1 before.\n')
  })

  it('proves the nodes of the run alone: one outside it is named after some seconds, and fails nothing', async () => {
    const fleet = five((all) => {
      all.node('a-1').labels = { tier: 'edge' }
      all.node('a-5').isWrong = true
    })
    const clock = waitingClock()
    const startedMs = clock.nowMs?.() ?? 0
    const result = await ctl('nodes rotate -l tier=edge --yes -o json', fleet, clock)
    expect(result.exitCode).toBe(0)
    expect(whole(result).proof).toMatchObject({ disagreeing: [], others_disagreeing: [{ display_name: 'a-5' }] })
    expect(whole(result).resume).toBeNull()
    expect(result.stderr).toContain('Outside this run, and not in agreement yet: a-5.')
    expect((clock.nowMs?.() ?? 0) - startedMs).toBeLessThan(30_000)
  })

  it('does not wait for nodes that nobody hears of, and exits 10 for them', async () => {
    const fleet = five((all) => (all.node('a-1').reachability = 'unreachable'))
    const result = await ctl('nodes rotate --all --batch 2 --yes --no-proof -o json', fleet)
    expect(result.exitCode).toBe(10)
    expect(whole(result)).toMatchObject({ ended: 'completed', waves: 3 })
    expect(whole(result).nodes[0]).toMatchObject({ display_name: 'a-1', outcome: 'pending' })
    expect(fleet.triggered.at(-1)).toBe('a-1')
  })

  it('begins no wave while more nodes are unavailable than allowed', async () => {
    const fleet = five((all) => (all.node('a-5').reachability = 'unreachable'))
    const result = await ctl('nodes rotate --all --max-unavailable 0 --yes', fleet)
    expect([result.exitCode, fleet.triggered]).toEqual([10, []])
    expect(result.stderr).toContain('1 nodes are unavailable, of 0 allowed')
  })

  it('keeps to the nodes of a selector', async () => {
    const fleet = five((all) => (all.node('a-3').labels = { tier: 'edge' }))
    expect((await ctl('nodes rotate -l tier=edge --yes', fleet)).exitCode).toBe(0)
    expect(fleet.triggered).toEqual(['a-3'])
    const none = await ctl('nodes rotate -l tier=none --yes', fleet)
    expect([none.exitCode, none.stderr.split('\n')[0]]).toEqual([3, 'error: no node that you may see is selected'])
  })

  it('pauses when the server refuses a node, and names the code', async () => {
    const fleet = five((all) => (all.node('a-1').isRefused = true))
    const result = await ctl('nodes rotate a-1 a-2 a-3 --batch 1 --yes -o json', fleet)
    expect([result.exitCode, fleet.triggered]).toEqual([10, []])
    expect(whole(result).nodes[0]).toMatchObject({ outcome: 'refused', code: 'permission_denied' })
    expect(whole(result).resume).toContain('ctl nodes rotate a-1 a-2 a-3 --batch 1')
  })

  it('exits 10 when an agent disagrees until the time is over, and says which and why', async () => {
    const fleet = five((all) => (all.node('a-4').isWrong = true))
    const result = await ctl('nodes rotate --all --yes --proof-timeout 10s', fleet)
    expect(result.exitCode).toBe(10)
    expect(result.stderr).toContain('4 of 5 nodes agree with the server; the others:\n  epochs_differ: a-4\n')
  })

  it('stops at Ctrl-C before the next wave, and says how to go on', async () => {
    const fleet = five()
    const controller = new AbortController()
    const clock = waitingClock()
    const result = await ctl('nodes rotate --all --batch 2 --yes --pause 1m', fleet, {
      ...clock,
      interrupted: controller.signal,
      sleep: async () => controller.abort(),
    })
    expect(result.exitCode).toBe(130)
    expect(result.stderr).toContain('Interrupted.\nRotated 2 of 5 nodes in 1 wave. Not begun: a-3, a-4, a-5.\n')
    expect(result.stderr).toContain(`Go on with: ctl nodes rotate --all --batch 2 --yes --pause 60s --since ${SINCE}\n`)
    expect(fleet.triggered).toHaveLength(2)
  })

  it('says the same on SIGTERM, and 143', async () => {
    const controller = new AbortController()
    const result = await ctl('nodes rotate --all --batch 2 --yes --pause 1m', five(), {
      ...waitingClock(),
      interrupted: controller.signal,
      isTerminated: true,
      sleep: async () => controller.abort(),
    })
    expect(result.exitCode).toBe(143)
    expect(result.stderr).toContain('Interrupted.\nRotated 2 of 5 nodes in 1 wave. Not begun: a-3, a-4, a-5.\n')
    expect(result.stderr).toContain(`Go on with: ctl nodes rotate --all --batch 2 --yes --pause 60s --since ${SINCE}\n`)
  })

  it.each([
    ['nodes rotate --yes', 'no nodes are named'],
    ['nodes rotate a-1 --all --yes', 'exclude one another'],
    ['nodes rotate --all --no-wait --yes', '--no-wait is for one node'],
    ['nodes rotate --all --batch 0 --yes', '--batch takes'],
    ['nodes rotate --all --batch 101% --yes', '--batch takes'],
    ['nodes rotate --all --max-unavailable -1 --yes', '--max-unavailable must be at least 0'],
    ['nodes rotate --all --pause-on unreachabel>0 --yes', 'compares nothing that is counted'],
    ['nodes rotate --all --pause-on timeout --yes', 'is no condition'],
    ["nodes rotate --all --pause-on '' --yes", 'is no condition'],
    ['nodes rotate --all --wave-timeout 0s --yes', '--wave-timeout must be more'],
    ['nodes rotate --all --since 2099-01-01T00:00:00Z --yes', '--since is in the future'],
    ['nodes rotate --all --since yesterday --yes', '--since needs a time'],
    ['nodes rotate a-1 --include-unreachable --yes', '--include-unreachable is for nodes that stdin names'],
    ['nodes rotate --all --include-unreachable --yes', '--include-unreachable is for nodes that stdin names'],
    ['nodes rotate a-1 --yes --sort node_id', '--sort goes with lists only'],
    ['nodes rotate --all --yes --columns nonsense', 'there is no column "nonsense"'],
    ["nodes rotate --all --yes --jq '.['", '--jq: '],
  ])('refuses "%s" with 2 and changes nothing', async (line, reason) => {
    const fleet = five()
    const { exitCode, stderr } = await ctl(line, fleet)
    expect(stderr).toContain(reason)
    expect([exitCode, fleet.triggered]).toEqual([2, []])
  })

  it('leaves "status" and "preview" to the commands below it, and takes them as names after --', async () => {
    const fleet = rotatingFleet(['status'])
    expect((await ctl('nodes rotate status status -o json', fleet)).exitCode).toBe(0)
    expect(fleet.triggered).toEqual([])
    expect((await ctl('nodes rotate --yes -- status', fleet)).exitCode).toBe(0)
    expect(fleet.triggered).toEqual(['status'])
    const refusing = rotatingFleet(['status'], (all) => (all.node('status').isRefused = true))
    const { stderr } = await ctl('nodes rotate --yes --batch 1 -- status', refusing)
    expect(stderr).toMatch(/Go on with: ctl nodes rotate --yes --batch 1 --since \S+ -- status\n/)
    expect((await ctl('nodes rotate --help', fleet)).stdout).toMatch(
      /ctl nodes rotate \[<node>\.\.\.\] \[flags\]\n.*ctl nodes rotate <command> \[flags\]/,
    )
  })
})
