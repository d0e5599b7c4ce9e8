import type { ExecutionRecord } from '../../executions/new-execution.ts'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { byIdDescending } from '../../sql/keyset.ts'

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

/** The architecture of a node; null where its agent does not say it. */
export async function declaredArchitecture(db: Db, nodeId: string): Promise<string | null> {
  const capabilities = await db
    .selectFrom('node_capabilities')
    .select('architecture')
    .where('node_id', '=', nodeId)
    .executeTakeFirst()
  return capabilities?.architecture ?? null
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
