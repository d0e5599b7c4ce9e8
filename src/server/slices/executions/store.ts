import type { Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { byIdDescending } from '../../sql/keyset.ts'
import type { Tables } from '../../ports/tables/tables.ts'

export type ExecutionRecord = Selectable<Tables['executions']>

export type Status = ExecutionRecord['status']

/** The columns that a change of status sets. */
export type Progress = Pick<ExecutionRecord, 'status' | 'started_at' | 'finished_at' | 'exit_code' | 'output' | 'error'>

/** An execution as paths name it: of another node it does not exist. */
export interface ExecutionRef {
  readonly id: string
  readonly nodeId: string
}

/** Which executions to list. */
export interface ExecutionFilter {
  readonly nodeId: string
  readonly status: Status | undefined
}

/** The hooks that a node declares; none where it has declared nothing. */
export async function declaredHooks(db: Db, nodeId: string): Promise<readonly { readonly name: string }[]> {
  const capabilities = await db
    .selectFrom('node_capabilities')
    .select('hooks')
    .where('node_id', '=', nodeId)
    .executeTakeFirst()
  return capabilities?.hooks ?? []
}

export async function insertExecution(tx: Db, execution: ExecutionRecord): Promise<void> {
  await tx.insertInto('executions').values(execution).execute()
}

/** Reads a node's executions, newest first. */
export function readExecutions(
  db: Db,
  { nodeId, status }: ExecutionFilter,
  range: PageRange,
): Promise<ExecutionRecord[]> {
  let query = db.selectFrom('executions').selectAll().where('node_id', '=', nodeId)
  if (status !== undefined) query = query.where('status', '=', status)
  return byIdDescending.page(query, range).execute()
}

export function findExecution(db: Db, { id, nodeId }: ExecutionRef): Promise<ExecutionRecord | undefined> {
  return db.selectFrom('executions').selectAll().where('id', '=', id).where('node_id', '=', nodeId).executeTakeFirst()
}

/** Locks one execution until the transaction ends. The caller has locked the node. */
export function lockExecution(tx: Db, { id, nodeId }: ExecutionRef): Promise<ExecutionRecord | undefined> {
  return tx
    .selectFrom('executions')
    .selectAll()
    .where('id', '=', id)
    .where('node_id', '=', nodeId)
    .forUpdate()
    .executeTakeFirst()
}

export function updateProgress(tx: Db, id: string, progress: Partial<Progress>): Promise<ExecutionRecord> {
  return tx.updateTable('executions').set(progress).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
}
