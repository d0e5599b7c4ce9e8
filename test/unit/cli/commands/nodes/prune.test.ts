import { describe, expect, it } from 'vitest'
import type { CliOptions, CliResult } from '../../../../support/cli/cli-run.ts'
import { rotatingFleet, waitingClock, type RotatingFleet } from '../../../../support/fleet/rotating-fleet.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'

describe('ctl nodes prune', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const ctl = (line: string, { routes }: RotatingFleet, options: CliOptions = {}): Promise<CliResult> =>
    cli.run(line, routes, { ...waitingClock(), ...options })
  const gone = ({ nodes }: RotatingFleet): readonly string[] =>
    nodes.flatMap(({ isGone, display_name }) => (isGone ? [display_name] : []))

  /** One that is well, one silent for ten days, one that never reported since long, one that just joined. */
  const mixed = (): RotatingFleet =>
    rotatingFleet(['well', 'silent', 'never', 'fresh'], (all) => {
      Object.assign(all.node('silent'), { reachability: 'unreachable', last_heartbeat_at: '2026-01-22T12:00:00.000Z' })
      Object.assign(all.node('never'), { reachability: 'never_reported', last_heartbeat_at: null })
      Object.assign(all.node('fresh'), {
        reachability: 'never_reported',
        last_heartbeat_at: null,
        created_at: '2026-02-01T11:00:00.000Z',
      })
    })
  const crowd = (): RotatingFleet =>
    rotatingFleet(
      Array.from({ length: 11 }, (_, index) => `old-${index}`),
      (all) =>
        all.nodes.forEach((node) => Object.assign(node, { reachability: 'unreachable', last_heartbeat_at: null })),
    )

  it('refuses a time within which no node is unreachable', async () => {
    const result = await ctl('nodes prune --unreachable-for 299s --dry-run', rotatingFleet(['a-1']))
    expect([result.exitCode, result.stderr]).toEqual([2, expect.stringContaining('at least 5m')])
  })

  it('takes the last heartbeat, or the registration where none ever came', async () => {
    const fleet = mixed()
    const result = await ctl('nodes prune --unreachable-for 7d --yes -o json', fleet)
    expect([result.exitCode, gone(fleet)]).toEqual([0, ['silent', 'never']])
    expect(JSON.parse(result.stdout).nodes).toMatchObject([
      { display_name: 'silent', outcome: 'deregistered', code: null },
      { display_name: 'never', outcome: 'deregistered', code: null },
    ])
    expect(result.stderr).toBe('Deregistered 2 of 2 nodes.\n')
  })

  it('never takes one that the server calls healthy, however old its heartbeat seems', async () => {
    const fleet = mixed()
    fleet.node('well').last_heartbeat_at = '2020-01-01T00:00:00.000Z'
    await ctl('nodes prune --unreachable-for 7d --yes', fleet)
    expect(gone(fleet)).not.toContain('well')
  })

  it('shows candidates and changes nothing with --dry-run, which needs no answer', async () => {
    const fleet = mixed()
    const result = await ctl('nodes prune --unreachable-for 30d --dry-run --jq .items[].display_name', fleet)
    expect([result.exitCode, result.stdout, gone(fleet)]).toEqual([10, 'never\n', []])
    expect(result.stderr).toContain('Would deregister 1 node. Nothing was changed.')
  })

  it('says so when there is nothing to do', async () => {
    const result = await ctl('nodes prune --unreachable-for 7d --yes', rotatingFleet(['well']))
    expect([result.exitCode, result.stderr]).toEqual([0, 'Every node was heard of within 7d.\n'])
  })

  it('shows them and asks for a yes, and wants the name of the Domain typed for more than ten', async () => {
    const few = mixed()
    const refused = await ctl('nodes prune --unreachable-for 7d', few, { isTty: true, answers: [false] })
    expect(refused.questions).toEqual(['Deregister 2 nodes silent for 7d?'])
    expect(refused.stderr).toContain('silent')
    expect([refused.exitCode, gone(few)]).toEqual([130, []])

    const many = crowd()
    const typed = 'Deregister 11 nodes silent for 7d. Type default to go on:'
    const wrong = await ctl('nodes prune --unreachable-for 7d', many, { isTty: true, answers: ['yes'] })
    expect([wrong.questions, wrong.exitCode, gone(many)]).toEqual([[typed], 130, []])
    const right = await ctl('nodes prune --unreachable-for 7d', many, { isTty: true, answers: ['default'] })
    expect([right.exitCode, gone(many).length]).toEqual([0, 11])
  })

  it('keeps a node that is heard of while the question stands', async () => {
    const fleet = mixed()
    const node = fleet.node('silent')
    let lists = 0
    const list = fleet.routes['GET /v1/nodes'] as (request: unknown) => object
    const routes = {
      ...fleet.routes,
      'GET /v1/nodes': (request: unknown) => {
        lists += 1
        if (lists === 2) Object.assign(node, { reachability: 'healthy', last_heartbeat_at: '2026-02-01T12:00:00.000Z' })
        return list(request)
      },
    }
    const result = await ctl('nodes prune --unreachable-for 7d', { ...fleet, routes }, { isTty: true, answers: [true] })
    expect([result.exitCode, gone(fleet)]).toEqual([0, ['never']])
    expect(result.stderr).toContain('Heard of meanwhile, and kept: silent.')
  })

  it('goes on past one that fails, reports it, and exits by the reason', async () => {
    const fleet = mixed()
    fleet.node('silent').isRefused = true
    const result = await ctl('nodes prune --unreachable-for 7d --yes -o json', fleet)
    expect([result.exitCode, gone(fleet)]).toEqual([5, ['never']])
    expect(JSON.parse(result.stdout).nodes[0]).toMatchObject({ outcome: 'failed', code: 'permission_denied' })
    expect(result.stderr).toContain('not deregistered: silent')
  })

  it.each([
    ['nodes prune --yes', '--unreachable-for needs a duration'],
    ['nodes prune --unreachable-for 0s --yes', '--unreachable-for needs a duration'],
    ['nodes prune --unreachable-for 7d', 'Add --yes'],
  ])('refuses "%s" with 2', async (line, reason) => {
    const fleet = mixed()
    const { exitCode, stderr } = await ctl(line, fleet)
    expect([exitCode, stderr, gone(fleet)]).toEqual([2, expect.stringContaining(reason), []])
  })
})
