import { Problem, problem } from '../../../shared/problems.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import { networkOf, type Limit } from './rate-limits.ts'
import type { OverloadMeter } from './overload-meter.ts'

/** Look-ups of one address at the same time, while few of its credentials fail. */
const AT_ONCE_MAX = 32
/** The same once the address has used up its failures: valid credentials still get through, and guesses cost the datastore little. */
const AT_ONCE_WHEN_EXHAUSTED = 4
/** Maximum of waiting look-ups of one address: half of the requests that the server has in progress at most. */
const WAITING_MAX = 8_192
/** How long a look-up may wait for its turn. */
const WAIT_MS = 5_000

/** Where a credential was presented. */
export interface PresentedFrom {
  readonly sourceAddress: string
  /** The connection; once it is closed, nobody waits for the answer. */
  readonly socket: { readonly destroyed: boolean }
}

/**
 * Queues of one address. Look-ups of node keys have datastore connections of their own, so they do not wait behind look-ups
 * of other credentials.
 */
export type LookUpLane = 'node-keys' | 'others'

/** Bounds the look-ups of credentials, and counts those that fail, by address. */
export interface LookUpLimiter {
  /**
   * Looks a credential up when it is its address' turn. A failure is reserved before and given back when the credential
   * resolves, so that valid ones only wait for each other.
   *
   * @throws what the look-up throws; `RateLimited` instead of its 401 where the address has too many of those; Problem
   * `overloaded` without a look-up when its turn does not come in time.
   */
  run(from: PresentedFrom, lane: LookUpLane, lookUp: () => Promise<Caller>): Promise<Caller>
  /** Counts a credential that was refused without a look-up. Its answer: the refusal, or a `RateLimited` in its place. */
  counted(from: PresentedFrom, refusal: Problem): Problem
}

export interface LookUpLimiterDeps {
  /** The limit of failed credentials. */
  readonly failures: Limit
  readonly clock: Clock
  readonly meter: OverloadMeter
}

/** Makes the limiter. */
export function createLookUpLimiter(deps: LookUpLimiterDeps): LookUpLimiter {
  const { clock, failures } = deps
  const lines = new Map<string, Line>()

  function lineOf(key: string, network: string): Line {
    const known = lines.get(key)
    if (known !== undefined) return known
    const line = new Line(network, deps)
    lines.set(key, line)
    return line
  }

  function counted({ sourceAddress }: PresentedFrom, refusal: Problem): Problem {
    return failures.over(networkOf(sourceAddress), clock.now()) ?? refusal
  }

  return {
    counted,
    async run(from, lane, lookUp) {
      const network = networkOf(from.sourceAddress)
      const key = `${lane} ${network}`
      const line = lineOf(key, network)
      const turn = line.begin() ?? (await line.wait(from.socket))
      try {
        const caller = await lookUp()
        turn.giveBack()
        if (caller.staleSinceMs !== undefined) line.beginAll()
        return caller
      } catch (error) {
        if (!isRefusal(error)) turn.giveBack()
        if (isOutage(error)) line.beginAll()
        throw isRefusal(error) && !turn.isReserved ? counted(from, error) : error
      } finally {
        line.end()
        if (line.isIdle()) lines.delete(key)
      }
    },
  }
}

function isRefusal(error: unknown): error is Problem {
  return error instanceof Problem && error.status === 401
}

function isOutage(error: unknown): boolean {
  return error instanceof Problem && error.code === 'datastore_unavailable'
}

/** A look-up that may start. */
interface Turn {
  /** Whether a failure was reserved for it. */
  readonly isReserved: boolean
  giveBack(): void
}

const UNRESERVED: Turn = { isReserved: false, giveBack: () => undefined }

interface Waiting {
  readonly socket: PresentedFrom['socket']
  readonly begin: (turn: Turn) => void
  readonly giveUp: (error: unknown) => void
}

/** The look-ups of one address, in order of arrival. A class to save memory. */
class Line {
  readonly #network: string
  readonly #deps: LookUpLimiterDeps
  readonly #waiting = new Set<Waiting>()
  readonly #reserved: Turn
  #underWay = 0
  #sweptMs = 0

  constructor(network: string, deps: LookUpLimiterDeps) {
    this.#network = network
    this.#deps = deps
    this.#reserved = { isReserved: true, giveBack: () => deps.failures.giveBack(network) }
  }

  isIdle(): boolean {
    return this.#underWay === 0 && this.#waiting.size === 0
  }

  /** A turn, if one is free and nobody else waits for it. */
  begin(): Turn | undefined {
    return this.#waiting.size === 0 ? this.#next() : undefined
  }

  wait(socket: PresentedFrom['socket']): Promise<Turn> {
    if (this.#waiting.size >= WAITING_MAX) this.#dropAbandoned()
    if (this.#waiting.size >= WAITING_MAX) return Promise.reject(this.#tooBusy())
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting)
        reject(this.#tooBusy())
      }, WAIT_MS)
      const waiting: Waiting = {
        socket,
        begin(turn) {
          clearTimeout(timer)
          resolve(turn)
        },
        giveUp(error) {
          clearTimeout(timer)
          reject(error)
        },
      }
      this.#waiting.add(waiting)
    })
  }

  end(): void {
    this.#underWay -= 1
    for (const waiting of this.#waiting) {
      if (waiting.socket.destroyed) {
        this.#drop(waiting)
        continue
      }
      const turn = this.#next()
      if (turn === undefined) return
      this.#waiting.delete(waiting)
      waiting.begin(turn)
    }
  }

  /** While the datastore is unavailable, waiting callers fail at once, as callers that share one read do. */
  beginAll(): void {
    for (const waiting of this.#waiting) {
      this.#underWay += 1
      waiting.begin(UNRESERVED)
    }
    this.#waiting.clear()
  }

  #next(): Turn | undefined {
    if (this.#underWay >= AT_ONCE_MAX) return undefined
    const { clock, failures } = this.#deps
    const isReserved = failures.reserve(this.#network, clock.now())
    if (!isReserved && this.#underWay >= AT_ONCE_WHEN_EXHAUSTED) return undefined
    this.#underWay += 1
    return isReserved ? this.#reserved : UNRESERVED
  }

  /** Removes look-ups of closed connections. Runs at most once a second, since it scans all of them. */
  #dropAbandoned(): void {
    const nowMs = this.#deps.clock.now()
    if (Math.abs(nowMs - this.#sweptMs) < 1000) return
    this.#sweptMs = nowMs
    for (const waiting of this.#waiting) if (waiting.socket.destroyed) this.#drop(waiting)
  }

  #drop(waiting: Waiting): void {
    this.#waiting.delete(waiting)
    waiting.giveUp(busy())
  }

  #tooBusy(): Problem {
    this.#deps.meter.refused('look_ups')
    return busy()
  }
}

function busy(): Problem {
  return problem('overloaded', { retry_after_seconds: 1 })
}
