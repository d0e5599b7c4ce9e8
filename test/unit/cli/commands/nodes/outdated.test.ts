import { describe, expect, it } from 'vitest'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'
import { rotatingFleet, waitingClock } from '../../../../support/fleet/rotating-fleet.ts'

const release = (version: string, members: object = {}) => ({
  version,
  support_status: 'supported',
  verdict: 'verified',
  architectures: [{ architecture: 'x86_64', checksum: 'ab'.repeat(32) }],
  created_at: '2026-02-01T11:00:00.000Z',
  updated_at: '2026-02-01T11:00:00.000Z',
  ...members,
})

const RELEASES = [
  release('2.0.0', { support_status: 'withdrawn' }),
  release('1.7.0', { verdict: 'unverified' }),
  release('1.6.0', { support_status: 'deprecated' }),
  release('1.5.0'),
]
const RUN = { old: '1.4.0', older: '1.10.0-rc.1', now: '1.5.0', odd: 'nightly', silent: null } as const

describe('ctl nodes outdated', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const outdated = (flags: string, releases: object, run: Readonly<Record<string, string | null>> = RUN) => {
    const { routes } = rotatingFleet(Object.keys(run), (all) =>
      all.nodes.forEach((node) => Object.assign(node, { binary_version: run[node.display_name] })),
    )
    return cli.run(`nodes outdated ${flags}`, { ...routes, 'GET /v1/artifacts/plexd': releases }, waitingClock())
  }
  const standings = (stdout: string) =>
    (JSON.parse(stdout).items as readonly Readonly<Record<string, string>>[]).map(
      ({ display_name, standing }) => `${display_name} ${standing}`,
    )

  it('compares nodes with the newest release that is verified and supported', async () => {
    const { exitCode, stdout, stderr } = await outdated('-o json', { body: { items: RELEASES } })
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ target_version: '1.5.0', target_source: 'release' })
    expect(standings(stdout)).toEqual(['old outdated', 'odd unknown', 'silent unknown', 'older ahead', 'now current'])
    expect(JSON.parse(stdout).versions).toEqual([
      { version: '1.10.0-rc.1', nodes: 1, standing: 'ahead' },
      { version: '1.5.0', nodes: 1, standing: 'current' },
      { version: '1.4.0', nodes: 1, standing: 'outdated' },
      { version: 'nightly', nodes: 1, standing: 'unknown' },
      { version: null, nodes: 1, standing: 'unknown' },
    ])
    expect(stderr).toContain('1.4.0           █████ 1 outdated\n')
    expect(stderr).toMatch(/1 node behind release 1\.5\.0\.\n$/)
  })

  it.each([
    [501, 'artifacts_not_provisioned', 'The server has no releases'],
    [403, 'permission_denied', 'You may not read the releases of the server'],
  ])('compares nodes with the newest of them where the answer is %d, and says it', async (status, code, reason) => {
    const refusal = {
      status,
      headers: { 'content-type': 'application/problem+json' },
      body: { type: `/problems/${code}`, title: 'No', status, detail: 'No.', code, correlation_id: 'c' },
    }
    const { exitCode, stdout, stderr } = await outdated('-o json', refusal)
    expect([exitCode, JSON.parse(stdout).target_version]).toEqual([0, '1.10.0-rc.1'])
    expect(stderr).toContain(`${reason}: nodes are compared with the newest version that one of them runs.\n`)
    expect(standings(stdout).slice(0, 2)).toEqual(['old outdated', 'now outdated'])
  })

  it('has nothing to compare with where no release is verified', async () => {
    const { exitCode, stdout, stderr } = await outdated('-o json', { body: { items: [RELEASES[1]] } })
    expect([exitCode, JSON.parse(stdout).target_version]).toEqual([0, null])
    expect(stderr).toContain('There is no version to compare with.\n')
  })

  it('lets nothing that an agent reports act on the terminal', async () => {
    const { stdout, stderr } = await outdated('', { body: { items: RELEASES } }, { evil: '\u001B[2J1.0.0' })
    expect(`${stdout}${stderr}`).not.toContain('\u001B[2J')
  })
})
