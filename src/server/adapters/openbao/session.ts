import type { BaoAnswer, BaoCall, BaoConnection } from './connection.ts'
import { logIn, lookUp, renew, type BaoLogin, type Lease } from './logins.ts'

export interface BaoSessionDeps {
  readonly connection: BaoConnection
  readonly login: BaoLogin
  /** Called at each renewal and login that fails. They are repeated until one succeeds. */
  readonly onFailure: (error: unknown) => void
}

/** Calls with the server's own token, which is renewed when two thirds of its time are over. */
export interface BaoSession {
  /** Sends a call. Logs in first where there is no token, and once more where the server no longer accepts it. */
  send(call: Omit<BaoCall, 'token'>): Promise<BaoAnswer>
  /** Asserts that the server accepts the token. */
  assertValid(): Promise<void>
  close(): void
}

/** Part of the time of a token after which it is renewed. */
const RENEWED_AFTER = 2 / 3
/** A renewal that gives less than this part of the first lease is near the maximum of the token: a login follows. */
const WORTHWHILE = 1 / 3
const RETRY_MS = 5_000
const DELAY_MS_MAX = 2 ** 31 - 1

export function createBaoSession({ connection, login, onFailure }: BaoSessionDeps): BaoSession {
  let current: Lease | undefined
  let firstDurationMs: number | undefined
  let loggingIn: Promise<Lease> | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function schedule(delayMs: number): void {
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(extend, Math.min(delayMs, DELAY_MS_MAX)).unref()
  }

  function keep(lease: Lease): Lease {
    current = lease
    if (lease.durationMs !== undefined) schedule(lease.durationMs * RENEWED_AFTER)
    return lease
  }

  /** Concurrent callers share one login. */
  function enter(): Promise<Lease> {
    loggingIn ??= logIn(connection, login)
      .then((lease) => {
        firstDurationMs = lease.durationMs
        return keep(lease)
      })
      .finally(() => {
        loggingIn = undefined
      })
    return loggingIn
  }

  async function renewed(lease: Lease): Promise<Lease> {
    if (!lease.isRenewable) return enter()
    const next = await renew(connection, lease.token).catch((error: unknown) => {
      onFailure(error)
      return undefined
    })
    const isShort = (next?.durationMs ?? Infinity) < (firstDurationMs ?? 0) * WORTHWHILE
    return next === undefined || isShort ? enter() : keep(next)
  }

  function extend(): void {
    const extended = current === undefined ? enter() : renewed(current)
    extended.catch((error: unknown) => {
      onFailure(error)
      schedule(RETRY_MS)
    })
  }

  /** Whether the server no longer accepts the token, as opposed to a policy that does not allow a call. */
  async function isDead({ token }: Lease): Promise<boolean> {
    return lookUp(connection, token).then(
      () => false,
      () => true,
    )
  }

  return {
    async send(call) {
      const lease = current ?? (await enter())
      const answer = await connection.send({ ...call, token: lease.token })
      if (answer.status !== 403 || !(await isDead(lease))) return answer
      const next = current === lease || current === undefined ? await enter() : current
      return connection.send({ ...call, token: next.token })
    },
    async assertValid() {
      const lease = current ?? (await enter())
      await lookUp(connection, lease.token).catch(async () => lookUp(connection, (await enter()).token))
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
