import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type { Session, SessionPool, SessionResult } from './session.ts'
import type { TransactionScope } from './transaction-scope.ts'

const COUNTED: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

/** A Kysely connection that knows its session. */
interface SessionConnection extends DatabaseConnection {
  readonly session: Session
}

function toQueryResult<R>({ rows, rowCount, command }: SessionResult): QueryResult<R> {
  const result = { rows: rows as R[] }
  return COUNTED.has(command) && rowCount !== null ? { ...result, numAffectedRows: BigInt(rowCount) } : result
}

function connectionOf(session: Session): SessionConnection {
  return {
    session,
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      return toQueryResult<R>(await session.query(sql, parameters))
    },
    streamQuery() {
      throw new Error('row streams are not part of the datastore port: page by key instead')
    },
  }
}

const sessionOf = (connection: DatabaseConnection): Session => (connection as SessionConnection).session

function beginStatement({ isolationLevel = 'read committed', accessMode }: TransactionSettings): string {
  return `begin isolation level ${isolationLevel}${accessMode === undefined ? '' : ` ${accessMode}`}`
}

/** If the work ignored a failed statement, PostgreSQL answers COMMIT with ROLLBACK: nothing was written. */
async function commit(session: Session): Promise<void> {
  const { command } = await session.query('commit', [])
  if (command !== 'COMMIT') throw new Error(`the transaction was rolled back: a failed statement within it was ignored`)
}

/** The caller receives the first error. A session that cannot roll back is not used again. */
async function rollback(session: Session): Promise<void> {
  if (session.broken === undefined) await session.query('rollback', []).catch((error: unknown) => session.spoil(error))
}

function createDriver(sessions: SessionPool, scope: TransactionScope): Driver {
  const run = async (connection: DatabaseConnection, statement: string) => {
    await sessionOf(connection).query(statement, [])
  }
  return {
    async init() {},
    async acquireConnection() {
      scope.assertOutside()
      return connectionOf(await sessions.acquire())
    },
    async beginTransaction(connection, settings) {
      sessionOf(connection).begin(beginStatement(settings))
    },
    commitTransaction: (connection) => commit(sessionOf(connection)),
    rollbackTransaction: (connection) => rollback(sessionOf(connection)),
    savepoint: (connection, name) => run(connection, `savepoint "${name}"`),
    rollbackToSavepoint: (connection, name) => run(connection, `rollback to savepoint "${name}"`),
    releaseSavepoint: (connection, name) => run(connection, `release savepoint "${name}"`),
    releaseConnection: async (connection) => sessions.release(sessionOf(connection)),
    // The datastore owns the sessions and closes them. Kysely would close them only if it had run a query.
    async destroy() {},
  }
}

/** Kysely over a pool of sessions, the same for both stores: isolation level, access mode and savepoints included. */
export function createDialect(sessions: SessionPool, scope: TransactionScope): Dialect {
  return {
    createDriver: () => createDriver(sessions, scope),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  }
}
