import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { Instant, KiB, OfNode, pageOf, pageQuery, Uuid, uuidField } from './fields.ts'
import { check, defineSurface, open, OPERATOR } from './operation.ts'

const ofNode = z.strictObject({ id: uuidField('invalid_node_id', 'Node') })
const params = z.strictObject({
  id: uuidField('invalid_node_id', 'Node'),
  execution_id: uuidField('invalid_execution_id', 'Execution'),
})
const columns = ['execution_id', 'action', 'type', 'status', 'requested_at', 'finished_at', 'exit_code']
const ofNodes = { id: 'nodes' }
const refs = { ...ofNodes, execution_id: 'executions' }

/** Actions that agents have built in (decisions: Executions). */
export const BUILTIN_ACTIONS = [
  'ping',
  'collect_diagnostics',
  'reload_config',
  'restart_agent',
  'upgrade_agent',
] as const

export const ExecutionStatus = z.enum(['pending', 'ack', 'started', 'succeeded', 'failed', 'cancelled', 'timeout'])

const Execution = z
  .object({
    execution_id: Uuid.describe('The execution'),
    node_id: OfNode,
    action: z.string().describe('Name of the action'),
    type: z.enum(['builtin', 'hook']).describe('Whether the action is built into the agent or a hook of the node'),
    parameters: z.record(z.string(), z.unknown()).optional().describe('Passed to the action unchanged'),
    status: ExecutionStatus.describe('How far it is; `succeeded`, `failed`, `cancelled` and `timeout` are final'),
    requested_by: z.string().describe('Subject, as `user:…` or `serviceaccount:…`'),
    requested_at: Instant.describe('When it was requested'),
    expires_at: Instant.describe('If it has not ended by then, it becomes `timeout`'),
    started_at: Instant.nullable().describe('When the node started it; null before'),
    finished_at: Instant.nullable().describe('When it ended; null before'),
    exit_code: z.int().nullable().describe('Exit code of the action; null where there is none'),
    output: z.string().nullable().describe('What it printed, at most 8 KiB; null before it ended'),
    error: z.string().nullable().describe('Why it failed, in the words of the node; null where it did not'),
  })
  .meta({ id: 'Execution', description: 'An action that a node was asked to run.' })

/** Maximum nesting of parameters: readers process them recursively. */
const PARAMETERS_DEPTH_MAX = 32

/** Whether every program can represent the value. `1e400` is valid JSON but no finite double. */
function isPortable(value: unknown, depth = 0): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  return depth < PARAMETERS_DEPTH_MAX && Object.values(value).every((member) => isPortable(member, depth + 1))
}

const ExecutionCreateRequest = z
  .strictObject({
    action: z.string().min(1).max(128).describe('A built-in action, or the name of a hook that the node declares'),
    type: z
      .enum(['builtin', 'hook'])
      .optional()
      .describe(
        'Whether the action is built in or a hook. When absent: built in if there is such an action, else a hook',
      ),
    parameters: z
      .record(z.string().min(1).max(128), z.unknown())
      .refine((parameters) => isPortable(parameters), {
        error: `must be nested at most ${PARAMETERS_DEPTH_MAX} deep, with numbers that fit 64-bit floating point`,
      })
      .optional()
      .describe('Passed to the action unchanged'),
    expires_in_seconds: z
      .int()
      .min(10)
      .max(86_400)
      .default(300)
      .describe('If it has not ended by then, it becomes `timeout`'),
  })
  .meta({ id: 'ExecutionCreateRequest', description: 'An action for a node to run.' })

/** Bytes of an execution's output that are stored (decisions: Executions). */
export const OUTPUT_BYTES_MAX = 8 * KiB

const boundedText = (bytesMax: number) =>
  z.string().refine((text) => new TextEncoder().encode(text).length <= bytesMax, {
    error: `must be at most ${bytesMax} bytes in UTF-8`,
  })

const ExecutionCallbackRequest = z
  .strictObject({
    status: z.enum(['ack', 'started', 'succeeded', 'failed', 'cancelled']).describe('How far the node is with it'),
    exit_code: z.int().min(-2_147_483_648).max(2_147_483_647).optional().describe('Exit code of the action'),
    output: boundedText(OUTPUT_BYTES_MAX).optional().describe('What it printed, at most 8 KiB'),
    error: boundedText(KiB).optional().describe('Why it failed, at most 1 KiB'),
  })
  .meta({ id: 'ExecutionCallbackRequest', description: 'How far a node is with an action.' })

export const executions = defineSurface(
  'executions',
  {
    summary: 'Actions that nodes carry out',
    nouns: { executions: { section: 'Fleet', position: 2, files: runtime('Actions that nodes carry out once') } },
  },
  {
    CreateExecution: {
      method: 'POST',
      path: '/v1/nodes/{id}/executions',
      summary: 'Ask a node to run an action',
      description:
        'The node learns of it by an event or its next pull. If it has not ended by `expires_at`, it becomes `timeout`.',
      credentials: OPERATOR,
      params: ofNode,
      body: ExecutionCreateRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('node-operate', 'node:{path.id}'),
      audit: { relation: 'execution.create', when: 'all' },
      responses: { 201: Execution },
      headers: { Location: 'Path of the new execution' },
      problems: ['node_not_found', 'unknown_action', 'release_not_eligible', 'capacity_exceeded'],
      notProvisioned: 'executions_not_provisioned',
      cli: {
        command: 'executions create',
        args: ['id', 'action'],
        refs: ofNodes,
        columns: ['execution_id', 'action', 'type', 'status', 'requested_at', 'expires_at'],
        done: 'Requested {action} as {execution_id}.',
      },
    },
    ListExecutions: {
      method: 'GET',
      path: '/v1/nodes/{id}/executions',
      summary: 'List the executions of a node, newest first',
      description: 'Filter by `status`. Ended executions are among them until they are cleared away.',
      credentials: OPERATOR,
      params: ofNode,
      query: z.strictObject({
        status: ExecutionStatus.optional().meta({
          problem: 'invalid_execution_status',
          description: 'One status only',
        }),
        ...pageQuery,
      }),
      gate: check('node-operate', 'node:{path.id}'),
      audit: { relation: 'execution.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: { 200: pageOf(Execution).meta({ id: 'ExecutionList', description: 'A page of executions.' }) },
      problems: ['node_not_found'],
      notProvisioned: 'executions_not_provisioned',
      cli: {
        command: 'executions list',
        args: ['id'],
        refs: ofNodes,
        columns,
        wide: ['requested_by', 'expires_at', 'error'],
      },
    },
    GetExecution: {
      method: 'GET',
      path: '/v1/nodes/{id}/executions/{execution_id}',
      summary: 'Show an execution with its output',
      description: 'Output and error are as the node reported them.',
      credentials: OPERATOR,
      params,
      gate: check('node-operate', 'node:{path.id}'),
      audit: { relation: 'execution.read', when: 'all' },
      responses: { 200: Execution },
      problems: ['execution_not_found'],
      notProvisioned: 'executions_not_provisioned',
      cli: { command: 'executions show', args: ['id', 'execution_id'], refs, columns: [...columns, 'output', 'error'] },
    },
    CancelExecution: {
      method: 'POST',
      path: '/v1/nodes/{id}/executions/{execution_id}/cancel',
      summary: 'Cancel an execution that has not ended',
      description: 'The node gets an event; what it has done by then stays done.',
      credentials: OPERATOR,
      params,
      gate: check('node-operate', 'node:{path.id}'),
      audit: { relation: 'execution.cancel', when: 'all' },
      responses: { 200: Execution },
      problems: ['execution_not_found', 'illegal_transition'],
      notProvisioned: 'executions_not_provisioned',
      cli: {
        command: 'executions cancel',
        args: ['id', 'execution_id'],
        refs,
        columns,
        confirm: 'yes',
        done: 'Cancelled {execution_id}.',
      },
    },
    PostExecutionCallback: {
      method: 'POST',
      path: '/v1/nodes/{id}/executions/{execution_id}',
      summary: 'Report the progress of an execution',
      description:
        '`pending` to `ack` to `started`, then one final status. Repeating the current status changes nothing.',
      credentials: ['nsk'],
      unauthenticated: 'unauthorized',
      params,
      idempotent: true,
      body: ExecutionCallbackRequest,
      bodyBytesMax: 64 * KiB,
      ingest: 'counted',
      gate: {
        ...open('S0 Authentication 4: a node speaks for itself'),
        ownNode: { param: 'id', mismatch: 'nsk_node_mismatch' },
      },
      audit: { relation: 'execution.advance', when: 'all', object: 'node:{path.id}' },
      responses: { 204: null },
      problems: ['execution_not_found', 'illegal_transition'],
      notProvisioned: 'executions_not_provisioned',
    },
  },
)
