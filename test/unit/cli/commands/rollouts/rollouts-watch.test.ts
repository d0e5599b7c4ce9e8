import { describe, expect, it } from 'vitest'
import { rolloutLines } from '../../../../../src/cli/commands/rollouts/picture.ts'
import type { Rollout } from '../../../../../src/cli/commands/rollouts/answers.ts'
import { styleOf } from '../../../../../src/cli/output/style.ts'
import { rolloutsFleet } from '../../../../golden/rollouts-fleet.ts'
import { ID } from '../../../../golden/fleet.ts'
import { NOW, type CliOptions } from '../../../../support/cli/cli-run.ts'
import { refused, type StubAnswer, type StubRoutes } from '../../../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'
import { waitingClock } from '../../../../support/fleet/rotating-fleet.ts'

const ID_1 = '019c1a10-0000-7000-8000-0000000e2001'
const NONE = { pending: 0, upgrading: 0, soaking: 0, done: 0, failed: 0, skipped: 0 }

const rollout = (more: Partial<Rollout> = {}): Rollout => ({
  id: ID_1,
  domain_id: ID.domain,
  slug: 'r1',
  status: 'running',
  version: '1.5.0',
  selector: '*',
  waves: [{ percent: 100 }],
  canaries: 0,
  max_in_flight: 50,
  soak_seconds: 0,
  max_failures: 0,
  window: null,
  allow_downgrade: false,
  node_count: 4,
  wave: 1,
  progress: [{ wave: 1, nodes: 4, counts: { ...NONE, upgrading: 4 } }],
  failures: 0,
  halted_reason: null,
  waiting_for: null,
  created_by: `user:${ID.me}`,
  created_at: '2026-02-01T08:00:00.000Z',
  started_at: '2026-02-01T11:00:00.000Z',
  finished_at: null,
  updated_at: '2026-02-01T11:59:58.000Z',
  ...more,
})

const routesOf = (...answers: readonly StubAnswer[]): StubRoutes => ({
  ...rolloutsFleet().routes,
  [`GET /v1/rollouts/${ID_1}`]: answers,
})

describe('ctl rollouts watch', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const watch = (answers: readonly StubAnswer[], { line = 'r1', ...options }: CliOptions & { line?: string } = {}) =>
    cli.run(`rollouts watch ${line}`, routesOf(...answers), { ...waitingClock(), ...options })

  it('writes a line for each change and none for looks that show nothing new', async () => {
    const [running, ended] = [{ body: rollout() }, { body: rollout({ status: 'completed', wave: null }) }]
    const { exitCode, stdout } = await watch([running, running, running, ended])
    expect([exitCode, stdout]).toEqual([
      0,
      '2026-02-01T12:00:00.000Z r1 running, wave 1 of 1: 4 upgrading\n' +
        '2026-02-01T12:00:03.000Z r1 completed: 4 upgrading\n',
    ])
  })

  it('goes on where the server cannot be asked for a while, and says that once', async () => {
    const away = refused(503, 'datastore_unavailable', 'The datastore is not available.')
    const ended = { body: rollout({ status: 'completed' }) }
    // Each look tries several times: two looks fail.
    const { exitCode, stderr } = await watch([{ body: rollout() }, ...Array.from({ length: 9 }, () => away), ended])
    expect([exitCode, stderr.match(/trying on/g)]).toEqual([0, ['trying on']])
  })

  it.each([
    [404, 'rollout_not_found', 3],
    [403, 'permission_denied', 5],
    [401, 'unauthenticated', 4],
    [501, 'artifacts_not_provisioned', 1],
  ])('ends where the answer is %i', async (status, code, exit) => {
    const { exitCode, stderr } = await watch([{ body: rollout() }, refused(status, code, 'No.')])
    expect([exitCode, stderr]).toEqual([exit, expect.stringContaining(`code=${code}`)])
  })

  it('says after Ctrl-C that the rollout goes on', async () => {
    const interrupted = new AbortController()
    const { exitCode, stdout, stderr } = await watch([{ body: rollout() }], {
      interrupted: interrupted.signal,
      sleep: async () => interrupted.abort(),
    })
    expect([exitCode, stdout.split('\n').length, stderr]).toEqual([
      130,
      2,
      'Stopped watching. The rollout goes on. Watch it with: ctl rollouts watch r1\n' +
        'To stop the rollout itself: ctl rollouts pause r1\n',
    ])
  })

  it('stops when its time is over, with exit code 10', async () => {
    const { exitCode, stderr } = await watch([{ body: rollout() }], { line: 'r1 --timeout 5s' })
    expect([exitCode, stderr]).toEqual([10, expect.stringMatching(/^Not over within 5s\. The rollout goes on\./)])
  })

  it('waits for a rollout that has not started', async () => {
    const pending = { body: rollout({ status: 'pending', started_at: null, wave: null, progress: [], node_count: 0 }) }
    const { exitCode, stdout } = await watch([pending, pending, { body: rollout({ status: 'completed', wave: null }) }])
    expect([exitCode, stdout]).toEqual([
      0,
      '2026-02-01T12:00:00.000Z r1 pending\n2026-02-01T12:00:02.000Z r1 completed: 4 upgrading\n',
    ])
  })

  it.each([
    [
      'what was skipped',
      { status: 'completed', progress: [{ wave: 1, nodes: 4, counts: { ...NONE, done: 1, skipped: 3 } }] },
      /^See why 3 nodes were skipped: ctl rollouts nodes r1 --state skipped$/m,
    ],
    [
      'that there was no node',
      { status: 'completed', progress: [], node_count: 0 },
      /no node matched .* when it started/,
    ],
    [
      'that another release is needed',
      { status: 'halted', halted_reason: 'The nodes cannot be upgraded: the release was withdrawn.', failures: 0 },
      /See which releases may be installed: ctl artifacts list/,
    ],
  ] satisfies [string, Partial<Rollout>, RegExp][])('ends with a word on %s', async (_what, members, expected) => {
    const { stderr } = await watch([{ body: rollout({ ...members, wave: null }) }])
    expect(stderr).toMatch(expected)
  })

  it('cannot be steered by what the server writes', async () => {
    const { stdout, stderr } = await watch([
      { body: rollout({ status: 'halted', halted_reason: 'bad\u001b[2J\nline', slug: 'r1\u001b[1m' }) },
    ])
    expect([stdout, stderr].map((text) => text.includes('\u001b'))).toEqual([false, false])
  })

  it.each([60, 80, 200])('draws nothing wider than a terminal of %i columns', async (columns) => {
    const wide = rollout({
      selector: `env in (${'a,'.repeat(80)}b)`,
      waves: [{ update_group: 'g'.repeat(256) }, { percent: 100 }],
      progress: [
        {
          wave: 1,
          nodes: 4000,
          counts: { pending: 900, upgrading: 900, soaking: 900, done: 900, failed: 399, skipped: 1 },
        },
      ],
    })
    const { stdout } = await watch([{ body: rollout({ ...wide, status: 'completed' }) }], { isTty: true, columns })
    expect(stdout.split('\n').filter((line) => line.length >= columns)).toEqual([])
  })
})

describe('The bar of a wave', () => {
  const barOf = (counts: Partial<typeof NONE>): string => {
    const all = { ...NONE, ...counts }
    const nodes = Object.values(all).reduce((sum, count) => sum + count, 0)
    const io = { env: { NO_COLOR: '1' } } as unknown as Parameters<typeof styleOf>[0]
    const style = styleOf(io, { isTty: true, columns: 100, rows: 24, write: () => undefined }, true)
    const drawn = rolloutLines(rollout({ progress: [{ wave: 1, nodes, counts: all }] }), {
      style,
      columns: 100,
      nowMs: NOW,
    })
    return /^1 +100% +([█x▓▒░-]{24}) /m.exec(drawn.join('\n'))?.[1] ?? ''
  }

  it.each([
    [{ done: 1 }, '████████████████████████'],
    [{ done: 50, pending: 50 }, '████████████░░░░░░░░░░░░'],
    [{ done: 999, failed: 1 }, '███████████████████████x'],
    [{ done: 1, pending: 9_998, skipped: 1 }, '█-░░░░░░░░░░░░░░░░░░░░░░'],
    [{ done: 10, failed: 10, skipped: 10, soaking: 10, upgrading: 10, pending: 10 }, '████xxxx----▓▓▓▓▒▒▒▒░░░░'],
    [{ done: 1, failed: 1, skipped: 1, soaking: 1, upgrading: 1, pending: 1_000_000 }, '█x-▓▒░░░░░░░░░░░░░░░░░░░'],
  ])('shows %j', (counts, bar) => {
    expect(barOf(counts)).toBe(bar)
  })
})
