import pino, { type Logger } from 'pino'
import { openBackend, type Backend } from '../../../src/server/composition/backend.ts'
import { parseConfig, type Config } from '../../../src/server/config/config.ts'
import type { Clock } from '../../../src/server/ports/clock.ts'
import type { OpenedStore } from '../datastores/stores.ts'
import { HIGH_RATE_LIMITS } from './high-rate-limits.mjs'

export const START_MS = Date.parse('2026-03-01T08:00:00.000Z')

/** The time; set it to move it. */
export interface TestClock extends Clock {
  nowMs: number
}

/** A clock that stands still until the test sets it. */
export function frozenClock(nowMs = START_MS): TestClock {
  const clock = { nowMs, now: () => clock.nowMs }
  return clock
}

/** Throws each warning and error at the code that logs it. */
export const THROWING_LOG: Logger = pino(
  { level: 'warn' },
  {
    write(line: string) {
      throw new Error(line)
    },
  },
)

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')

/** The configuration of a server in a test: no rate limits, no bundled provider, nothing on the disk. */
export function testConfig(argv: readonly string[] = []): Config {
  const config = parseConfig({
    argv: ['--env', 'test', '--no-bundled-provider', ...argv],
    env: { ...HIGH_RATE_LIMITS, SERVICE_MASTER_KEY: MASTER_KEY },
  })
  // The store is opened by the test: only the files beside it follow from this.
  return { ...config, storage: { kind: 'memory' } }
}

interface TestBackendOptions {
  readonly clock: Clock
  readonly config?: Config
  readonly log?: Logger
  readonly onAuditFailure?: () => void
}

/** Opens the backend of a server over an opened store. `closeBackend` closes both. */
export function openTestBackend(store: OpenedStore, options: TestBackendOptions): Promise<Backend> {
  const { clock, config = testConfig(), log = THROWING_LOG, onAuditFailure = () => undefined } = options
  const hooks = {
    log,
    onAuditFailure,
    onNew: () => undefined,
    onBroken(error: Error) {
      throw error
    },
  }
  const openStorage = async () => ({ datastore: store, place: store.place, isRecovered: false })
  return openBackend(config, hooks, { clock, openStorage })
}
