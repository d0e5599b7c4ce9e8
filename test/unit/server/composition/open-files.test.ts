import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createFileWatch, filesOfServer } from '../../../../src/server/composition/open-files.ts'
import { parseConfig, type Config } from '../../../../src/server/config/config.ts'

const NOW_MS = Date.parse('2026-03-01T08:00:00.000Z')
const config = (env: Readonly<Record<string, string>> = {}): Config =>
  parseConfig({ argv: [], env: { HOME: '/home/ana', ...env } })
const ON_POSTGRES = {
  SERVICE_DATABASE_URL: 'postgres://ctl@db/ctl',
  SERVICE_MASTER_KEY: Buffer.alloc(32).toString('base64'),
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(() => vi.useRealTimers())

/** A replica with so many open files, one of several that serve the nodes. */
function watched({ max, nodes, replicas = 1 }: { max: number; nodes: number; replicas?: number }) {
  const state: { nodes: number; refusesSince: Date | undefined } = { nodes, refusesSince: undefined }
  const warnings: unknown[] = []
  const files = { max, count: async () => 100 }
  const watch = createFileWatch({ config: config(ON_POSTGRES), clock: { now: () => NOW_MS }, files })
  const use = (dimension: 'nodes' | 'secret_reads', used: number) => {
    return { dimension, used, target: 0, ratio: null, isOver: false, crossings: 0, daysUntilFull: null }
  }
  const all = () => [
    { domainId: 'a', dimensions: [use('nodes', state.nodes - 1), use('secret_reads', 7_000)] },
    { domainId: 'b', dimensions: [use('nodes', 1)] },
  ]
  const unused = () => expect.fail('must not be used')
  watch?.follow({
    app: {
      load: () => {
        const { refusesSince } = state
        return { running: 0, lagSeconds: 0, files: { open: max, streamsMax: max, max, refusesSince } }
      },
    },
    services: {
      capacity: {
        capacityMonitor: { all, observe: unused, grown: unused, sampledAtMs: unused, of: unused },
        crossings: {} as never,
      },
      capacityLimits: { liveReplicas: () => replicas, targetOf: unused },
    },
    log: { warn: (...args: unknown[]) => void warnings.push(args) },
  })
  const shown = () => watch?.unprobed.lastCall()
  return { state, warnings, shown, stop: () => watch?.stop() }
}

describe('the limit of open files', () => {
  it('is not spoken of where it is enough', () => {
    const { warnings, shown, stop } = watched({ max: 20_000, nodes: 9_416 })
    expect([shown(), warnings]).toEqual([undefined, []])
    stop()
  })

  it('is too low where each node has not two files, and is logged once', () => {
    const { state, warnings, shown, stop } = watched({ max: 20_000, nodes: 9_416 })
    state.nodes = 9_417
    vi.advanceTimersByTime(60_000)
    const fault = 'the limit of 20000 open files is too low for the nodes that this replica serves'
    expect(shown()).toEqual({ since: new Date(NOW_MS), fault })
    const sentence = `${fault}: raise it (LimitNOFILE, ulimit -n), or add replicas`
    expect(warnings).toEqual([[{ max: 20_000, needed: 20_001, nodes: 9_417 }, sentence]])
    state.nodes = 9_416
    vi.advanceTimersByTime(15_000)
    expect(shown()).toBeUndefined()
    stop()
  })

  it('is shared by the replicas', () => {
    const { shown, stop } = watched({ max: 20_000, nodes: 90_000, replicas: 10 })
    expect(shown()).toBeUndefined()
    stop()
  })

  it('is low below 4096 even without nodes', () => {
    const { shown, warnings, stop } = watched({ max: 4_095, nodes: 1 })
    expect(shown()?.fault).toBe('the limit of 4095 open files is low')
    expect(warnings).toHaveLength(1)
    stop()
  })

  it('is used up where streams are refused, since the first of them', () => {
    const { state, shown, stop } = watched({ max: 20_000, nodes: 9_416 })
    state.refusesSince = new Date(NOW_MS - 1)
    expect(shown()).toEqual({
      since: new Date(NOW_MS - 1),
      fault: 'new event streams are refused: too many files are open',
    })
    stop()
  })
})

it.each([
  { title: 'PostgreSQL', env: ON_POSTGRES, files: 167 },
  { title: 'more sessions', env: { ...ON_POSTGRES, SERVICE_POOL_INTERACTIVE_MAX_CONNS: '40' }, files: 187 },
  { title: 'NATS', env: { ...ON_POSTGRES, SERVICE_NATS_URL: 'nats://127.0.0.1' }, files: 169 },
  { title: 'the embedded datastore', env: {}, files: 788 },
])('with $title a server may open $files files for itself', ({ env, files }) => {
  expect(filesOfServer(config(env))).toBe(files)
})
