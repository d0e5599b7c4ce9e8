/** A real PostgreSQL of its own: durable settings, loopback, a free port, gone at the end. */
export interface PostgresCluster {
  /** Of the database `postgres`. */
  readonly url: string
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

/**
 * Starts a cluster. By default its collation is a language's, so that a query that forgot `COLLATE "C"` shows.
 * @throws Error when PostgreSQL is not on this machine: ask `requirement('postgresql')` first.
 */
export declare function startPostgresCluster(collation?: Collation): Promise<PostgresCluster>

/** PostgreSQL refuses to run as root: there it runs as the account of Debian's package. */
export declare function postgresAccount(): { uid: number; gid: number } | undefined

/** A port of the loopback address that nothing listens on. */
export declare function freePort(): Promise<number>
