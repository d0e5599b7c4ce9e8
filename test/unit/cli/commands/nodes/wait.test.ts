import { describe, expect, it } from 'vitest'
import type { CliOptions, CliResult } from '../../../../support/cli/cli-run.ts'
import { rotatingFleet, waitingClock, type RotatingFleet } from '../../../../support/fleet/rotating-fleet.ts'
import { refused } from '../../../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'

describe('ctl nodes wait', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const ctl = (line: string, { routes }: RotatingFleet, options: CliOptions = {}): Promise<CliResult> =>
    cli.run(line, routes, { ...waitingClock(), ...options })

  it('ends at once when all have come to it', async () => {
    const result = await ctl('nodes wait a-1 a-2 --for reachability=healthy', rotatingFleet(['a-1', 'a-2']))
    expect([result.exitCode, result.stdout, result.stderr]).toEqual([0, '', '2 nodes: reachability=healthy.\n'])
  })

  it('looks again until they have', async () => {
    const fleet = rotatingFleet(['a-1', 'a-2'])
    const node = fleet.node('a-2')
    node.reachability = 'unreachable'
    const clock = waitingClock()
    let naps = 0
    const sleep = async (ms: number): Promise<void> => {
      naps += 1
      if (naps === 3) node.reachability = 'healthy'
      await clock.sleep?.(ms)
    }
    const result = await ctl('nodes wait --all --for reachability=healthy -o json', fleet, { ...clock, sleep })
    expect([result.exitCode, naps]).toEqual([0, 3])
    expect(JSON.parse(result.stdout)).toEqual({
      for: 'reachability=healthy',
      met: true,
      nodes: [fleet.node('a-1'), node].map(({ id, display_name }) => ({
        node_id: id,
        display_name,
        met: true,
        reachability: 'healthy',
        rotation_pending: false,
      })),
    })
  })

  it('exits 10 when the time is over, and says who is missing and what they are instead', async () => {
    const fleet = rotatingFleet(['a-1', 'a-2'], (all) => (all.node('a-2').reachability = 'stale'))
    const result = await ctl('nodes wait a-1 a-2 --for reachability=healthy --timeout 1m', fleet)
    expect(result.exitCode).toBe(10)
    expect(result.stderr).toContain('reachability=healthy: 0 of 1, 0.0/s, waiting for a-2\n')
    expect(result.stderr).toMatch(/^Not within 1m: 1 of 2 nodes reachability=healthy\. Missing: a-2 \(stale\)\.\n$/m)
  })

  it('waits for rotations', async () => {
    const fleet = rotatingFleet(['a-1'], (all) => {
      all.node('a-1').rotation_pending = true
      all.node('a-1').isStuck = true
    })
    const result = await ctl('nodes wait a-1 --for rotation=completed --timeout 5s', fleet)
    expect([result.exitCode, result.stderr]).toEqual([
      10,
      expect.stringContaining('Not within 5s: 0 of 1 node rotation=completed. Missing: a-1 (rotation pending).\n'),
    ])
    fleet.node('a-1').isStuck = false
    expect((await ctl('nodes wait a-1 --for rotation=completed', fleet)).exitCode).toBe(0)
  })

  it('waits until nodes are gone, by name or by an id that is gone already', async () => {
    const fleet = rotatingFleet(['a-1', 'a-2'])
    const { id } = fleet.node('a-2')
    const clock = waitingClock()
    const sleep = async (ms: number): Promise<void> => {
      fleet.node('a-1').isGone = true
      await clock.sleep?.(ms)
    }
    expect((await ctl('nodes wait a-1 --for deregistered', fleet, { ...clock, sleep })).exitCode).toBe(0)
    fleet.node('a-2').isGone = true
    expect((await ctl(`nodes wait ${id} --for deregistered`, fleet)).exitCode).toBe(0)
    expect((await ctl(`nodes wait ${id} --for reachability=healthy`, fleet)).exitCode).toBe(3)
    const unreadable = refused(403, 'permission_denied', 'The caller lacks the relation.')
    const routes = { ...fleet.routes, [`GET /v1/nodes/${id}`]: unreadable }
    expect((await ctl(`nodes wait ${id} --for deregistered`, { ...fleet, routes })).exitCode).toBe(0)
    expect((await ctl(`nodes wait ${id} --for rotation=completed`, { ...fleet, routes })).exitCode).toBe(5)
  })

  it('takes a node that is gone for one that has not come to it', async () => {
    const fleet = rotatingFleet(['a-1'], (all) => (all.node('a-1').reachability = 'stale'))
    const clock = waitingClock()
    const sleep = async (ms: number): Promise<void> => {
      fleet.node('a-1').isGone = true
      await clock.sleep?.(ms)
    }
    const result = await ctl('nodes wait a-1 --for reachability=healthy --timeout 2s', fleet, { ...clock, sleep })
    expect([result.exitCode, result.stderr]).toEqual([10, expect.stringContaining('a-1 (deregistered)')])
  })

  it('stops at Ctrl-C with 130 and says who is missing', async () => {
    const fleet = rotatingFleet(['a-1'], (all) => (all.node('a-1').reachability = 'stale'))
    const controller = new AbortController()
    const result = await ctl('nodes wait a-1 --for reachability=healthy', fleet, {
      interrupted: controller.signal,
      sleep: async () => controller.abort(),
    })
    expect([result.exitCode, result.stderr]).toEqual([
      130,
      'Interrupted: 0 of 1 node reachability=healthy. Missing: a-1 (stale).\n',
    ])
  })

  it('finds no node that is gone when there is none, and calls everything else a mistake in the selector', async () => {
    const gone = await ctl('nodes wait -l tier=none --for deregistered', rotatingFleet(['a-1']))
    expect([gone.exitCode, gone.stderr]).toEqual([0, '0 nodes: deregistered.\n'])
    const mistyped = await ctl('nodes wait -l tier=ege --for reachability=healthy', rotatingFleet(['a-1']))
    expect([mistyped.exitCode, mistyped.stdout, mistyped.stderr.split('\n')[0]]).toEqual([
      3,
      '',
      'error: no node that you may see is selected',
    ])
  })

  it.each([
    ['nodes wait a-1', '--for is missing'],
    ['nodes wait a-1 --for reachability=helthy', 'Did you mean reachability=healthy?'],
    ['nodes wait --for deregistered', 'no nodes are named'],
  ])('refuses "%s" with 2', async (line, reason) => {
    const { exitCode, stderr } = await ctl(line, rotatingFleet(['a-1']))
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(reason)])
  })
})
