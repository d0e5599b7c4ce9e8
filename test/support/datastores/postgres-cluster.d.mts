/** A real PostgreSQL of its own: loopback, a free port, gone at the end. */
export interface PostgresCluster {
  /** Of the database `postgres`. */
  readonly url: string
  readonly dataDirectory: string
  readonly pid: number
  /** Makes an empty database and returns its URL. */
  createDatabase(): Promise<string>
  /** Ends the server by signal: `SIGINT` in order, `SIGQUIT` as a crash. The data stay. */
  end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
  /** Ends the server and removes its data. */
  stop(): Promise<void>
}

/** Arguments of `initdb` that choose how texts are sorted. */
export type Collation = readonly string[]

export interface ClusterOptions {
  /** Default: a language's, so that a query that forgot `COLLATE "C"` shows. */
  readonly collation?: Collation
  /** Path of the data directory that it begins as a copy of. Default: what `initdb` makes. */
  readonly image?: string
  /** Whether its writes survive a loss of power, as those of a shipped server do. Default: true. */
  readonly isDurable?: boolean
  /** Further settings of the server, such as `max_connections=200`. */
  readonly settings?: readonly string[]
}

/**
 * Starts a cluster.
 * @throws Error when PostgreSQL is not on this machine: ask `requirement('postgresql')` first.
 */
export declare function startPostgresCluster(options?: ClusterOptions): Promise<PostgresCluster>

/** Path of the data directory that `initdb` makes, which may only be copied. */
export declare function blankPostgresImage(collation?: Collation): Promise<string>

/** PostgreSQL refuses to run as root: there it runs as the account of Debian's package. */
export declare function postgresAccount(): { uid: number; gid: number } | undefined

/** A port of the loopback address that nothing listens on. */
export declare function freePort(): Promise<number>
