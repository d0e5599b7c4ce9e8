import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { problem } from '../../../shared/problems.ts'
import type { ProcessFiles } from '../../ports/process-files.ts'
import { fileReserveOf } from './file-reserve.ts'
import type { OverloadMeter } from './overload-meter.ts'

/** How often the files that are no connections of clients are counted. */
const COUNT_EVERY_MS = 5_000
/** Idle connections are closed at most this often, since that looks at every connection. */
const CLOSE_IDLE_EVERY_MS = 1_000
/** Streams count as refused for so long after one was. */
const REFUSING_MS = 60_000
/** A stream that is refused may ask again after 15 to 60 s, each after another time. */
const RETRY_SECONDS = { min: 15, spread: 45 } as const

/** The files of the process, and what the server may open for itself. */
export interface FileBounds {
  readonly files: ProcessFiles
  /** Files that the server may open beside connections of clients. */
  readonly own: number
}

/** The open files now. */
export interface OpenFilesState {
  readonly open: number
  /** How many may be open with event streams still being accepted. */
  readonly streamsMax: number
  readonly max: number
  /** Since when event streams are refused; undefined where they are not. */
  readonly refusesSince: Date | undefined
}

/** Keeps files free for what the server needs itself: the datastore, its other dependencies, and health checks. */
export interface OpenFiles {
  /** @throws Problem `overloaded` when an event stream would use files that are kept free. */
  assertRoomForStream(): void
  /** Whether connections are to be closed after their answer, since event streams need their files. */
  isScarce(): boolean
  /** Undefined where no limit is known. */
  state(): OpenFilesState | undefined
  /** Counts the connections of this listener, and bounds them once the files were counted. */
  follow(server: Server): void
  /** Resolves once the files were counted; they are counted again every few seconds. Never rejects. */
  start(): Promise<void>
  stop(): void
}

export interface OpenFilesDeps {
  /** Undefined: no limit is known, and nothing is refused. */
  readonly bounds: FileBounds | undefined
  readonly meter: OverloadMeter
  /** Called when event streams begin to be refused, and when they are accepted again. */
  readonly onChange: (state: OpenFilesState) => void
  readonly now?: () => number
  readonly random?: () => number
}

const UNBOUNDED: OpenFiles = {
  assertRoomForStream() {},
  isScarce: () => false,
  state: () => undefined,
  follow() {},
  start: () => Promise.resolve(),
  stop() {},
}

/**
 * Counts the connections of clients as they come and go, and all other files every few seconds. Event streams are refused first;
 * from then on other answers close their connections, so that the calls of many nodes share the rest. When only the server's
 * own reserve is left, connections are closed as they are accepted, before anything is read of them.
 */
export function createOpenFiles({ bounds, ...deps }: OpenFilesDeps): OpenFiles {
  return bounds === undefined ? UNBOUNDED : new BoundedFiles(bounds, deps)
}

class BoundedFiles implements OpenFiles {
  readonly #files: ProcessFiles
  readonly #forConnections: number
  readonly #streamsMax: number
  readonly #deps: Omit<OpenFilesDeps, 'bounds'>
  readonly #now: () => number
  readonly #servers: Server[] = []
  #connectionsMax: number | undefined
  #timer: NodeJS.Timeout | undefined
  #connections = 0
  /** Files that are no connections of clients. */
  #others = 0
  #closedIdleAt = 0
  #refusesSince: number | undefined
  #refusedAt = 0

  constructor({ files, own }: FileBounds, deps: Omit<OpenFilesDeps, 'bounds'>) {
    const { forStreams, forConnections } = fileReserveOf(files.max, own)
    this.#files = files
    this.#streamsMax = files.max - forStreams
    this.#forConnections = forConnections
    this.#deps = deps
    this.#now = deps.now ?? Date.now
  }

  assertRoomForStream(): void {
    // The connection of this stream is open already.
    if (!this.isScarce()) return
    this.#deps.meter.refused('open_files')
    this.#refusedAt = this.#now()
    if (this.#refusesSince === undefined) {
      this.#refusesSince = this.#refusedAt
      this.#changed()
    }
    const { random = Math.random } = this.#deps
    throw problem('overloaded', {
      retry_after_seconds: RETRY_SECONDS.min + Math.floor(random() * RETRY_SECONDS.spread),
    })
  }

  isScarce(): boolean {
    return this.#others + this.#connections > this.#streamsMax
  }

  state(): OpenFilesState {
    const since = this.#refusesSince
    return {
      open: this.#others + this.#connections,
      streamsMax: this.#streamsMax,
      max: this.#files.max,
      refusesSince: since === undefined ? undefined : new Date(since),
    }
  }

  follow(server: Server): void {
    this.#servers.push(server)
    // `localhost` has a second listener, which is made after the count.
    if (this.#connectionsMax !== undefined) server.maxConnections = this.#connectionsMax
    server.on('connection', (socket: Socket) => {
      this.#connections += 1
      socket.once('close', () => {
        this.#connections -= 1
      })
    })
    server.on('drop', () => this.#dropped(server))
  }

  async start(): Promise<void> {
    await this.#count()
    this.#timer = setInterval(() => void this.#tick(), COUNT_EVERY_MS).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** A connection was closed as it was accepted. Those that wait for nothing make room for the next ones. */
  #dropped(server: Server): void {
    this.#deps.meter.refused('accept')
    const now = this.#now()
    if (now - this.#closedIdleAt < CLOSE_IDLE_EVERY_MS) return
    this.#closedIdleAt = now
    server.closeIdleConnections()
  }

  async #tick(): Promise<void> {
    await this.#count()
    if (this.#refusesSince === undefined || this.#now() - this.#refusedAt < REFUSING_MS) return
    this.#refusesSince = undefined
    this.#changed()
  }

  /** Connections may come and go while the files are counted: the higher number of others is kept then. */
  async #count(): Promise<void> {
    const before = this.#connections
    const counted = await this.#files.count()
    if (counted === undefined) return
    this.#others = Math.max(0, counted - Math.min(before, this.#connections))
    // Node closes what exceeds it as it is accepted. It takes 0 for no bound.
    this.#connectionsMax = Math.max(1, this.#files.max - this.#forConnections - this.#others)
    for (const server of this.#servers) server.maxConnections = this.#connectionsMax
  }

  #changed(): void {
    this.#deps.onChange(this.state())
  }
}
