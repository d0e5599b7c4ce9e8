import type { ApiClient } from '../../client/agent/agent-deps.ts'
import { generateMeshKey, type MeshKey } from '../../client/agent/keys/mesh-key.ts'
import { ProblemAnswer, TransportFailure } from '../../client/failures.ts'
import { agentError, reasonOf } from './errors.ts'
import type { AgentState, Enrolment, MachineSettings, ServerSettings } from './state/agent-state.ts'
import { connectionHints } from '../errors/connection-hints.ts'
import { EXIT, exitCodeOf } from '../errors/exit-code.ts'

/** How a node is enrolled. */
export interface EnrolOptions {
  readonly client: Pick<ApiClient, 'RegisterNode'>
  readonly joinToken: string
  readonly name: string
  readonly server: ServerSettings
  readonly machine: MachineSettings
  readonly binary: { readonly version: string; readonly checksum: string }
  /** A registration that began before and has no known end. */
  readonly before: AgentState['enrolling']
  readonly write: (state: AgentState) => Promise<void>
  readonly now: () => Date
}

const KIND = 'worker'
/** Whatever the server answers, the agent neither calls without end nor so rarely that it counts as gone. */
const HEARTBEAT_SECONDS = { min: 1, max: 300 } as const

/**
 * Enrols the node. The key pair is on disk before the call, and the answer before anything else: its secret key is shown once.
 *
 * @throws CliError for each refusal, with its way out.
 */
export async function enrol(options: EnrolOptions): Promise<AgentState> {
  const { name, server, machine, write, now } = options
  const key = generateMeshKey()
  const base = { format: 1, server, machine } as const
  await write({ ...base, enrolling: { name, key, at: now().toISOString() } })
  const answer = await register(options, key).catch(async (error: unknown) => {
    // A refusal has made no node: only an earlier registration whose answer was lost may have.
    if (isRefusal(error)) await write(options.before === undefined ? base : { ...base, enrolling: options.before })
    throw refusalOf(error, options)
  })
  const state: AgentState = { ...base, enrolment: enrolmentOf(answer, name, key) }
  await write(state)
  return state
}

type Registered = Awaited<ReturnType<ApiClient['RegisterNode']>>

async function register(options: EnrolOptions, key: MeshKey): Promise<Registered> {
  const { client, joinToken, name, binary } = options
  const body = {
    name,
    kind: KIND,
    public_key: key.publicKey,
    binary_version: binary.version,
    binary_checksum: binary.checksum,
  }
  return client.RegisterNode({ body }, { token: joinToken })
}

/** Whether the server has decided. A failure of its own may come after the node was made. */
function isRefusal(error: unknown): boolean {
  return error instanceof ProblemAnswer && error.status < 500
}

function enrolmentOf(answer: Registered, name: string, key: MeshKey): Enrolment {
  const { node_id, domain_id, mesh_address, nsk, psk_issued_at, heartbeat_interval_seconds: interval } = answer
  const { mesh_cidr } = answer as { readonly mesh_cidr?: string }
  return {
    node_id,
    domain_id,
    name,
    mesh_address,
    mesh_cidr,
    nsk,
    private_key: key.privateKey,
    psk_issued_at,
    heartbeat_interval_seconds: Math.min(Math.max(interval, HEARTBEAT_SECONDS.min), HEARTBEAT_SECONDS.max),
    epochs: {},
    executions: {},
  }
}

interface Refusal {
  readonly why: string
  readonly hints: readonly string[]
}

const ANOTHER_TOKEN = 'Make another one: ctl join-tokens create'
const AGAIN = 'Enrol an existing node again with a token made by "ctl join-tokens create --node NODE".'

const REFUSALS: Readonly<Record<string, (name: string) => Refusal>> = {
  invalid_join_token: () => ({ why: 'the join token is unknown, expired or revoked', hints: [ANOTHER_TOKEN] }),
  join_token_exhausted: () => ({ why: 'the join token was used as often as it allows', hints: [ANOTHER_TOKEN] }),
  node_name_conflict: (name) => ({
    why: `the Domain has a node named ${name}`,
    hints: ['Give another name with --name.', AGAIN],
  }),
  public_key_in_use: () => ({
    why: 'the Domain has the new public key already',
    hints: ['Run the command again: it makes a fresh key pair.'],
  }),
  invalid_public_key: () => ({
    why: 'the server refuses the new public key',
    hints: ['Run the command again: it makes a fresh key pair.'],
  }),
  mesh_addresses_exhausted: () => ({
    why: 'the Domain has no mesh address left',
    hints: ['Deregister nodes that are gone (ctl nodes prune), or give the Domain a larger mesh_cidr.'],
  }),
}

/** Refusals that a registration causes whose answer was lost. */
const LOST = new Set(['node_name_conflict', 'join_token_exhausted'])

function refusalOf(error: unknown, { name, server, before }: EnrolOptions): Error {
  if (error instanceof TransportFailure) return unanswered(error, name, server)
  if (!(error instanceof ProblemAnswer)) return error instanceof Error ? error : new Error(reasonOf(error))
  const { why, hints } = REFUSALS[error.code]?.(name) ?? { why: error.detail, hints: [] }
  const lost =
    before !== undefined && LOST.has(error.code)
      ? [
          `A registration as ${before.name} at ${before.at} got no answer and may have made that node: ctl nodes deregister ${before.name}`,
        ]
      : []
  return agentError(error.code, `the node was not enrolled: ${why}`, {
    exitCode: exitCodeOf(error.status),
    hints: [...lost, ...hints, ...(error.correlationId === undefined ? [] : [`correlation_id=${error.correlationId}`])],
    cause: error,
  })
}

/** Faults with which the server did not get the request. */
const NOT_SENT = new Set(['unreachable', 'untrusted'])

function unanswered(error: TransportFailure, name: string, { url }: ServerSettings): Error {
  const isLost = !NOT_SENT.has(error.fault)
  const ways =
    error.fault === 'untrusted'
      ? ['Trust its authority with --ca-sha256 HEX, which the server prints when it starts, or --ca-file FILE.']
      : [...connectionHints(error), 'The address is that of --server, or the one with which enrolment began.']
  return agentError(error.fault, `the node was not enrolled: ${url}: ${error.message}`, {
    exitCode: EXIT.unavailable,
    hints: isLost
      ? [`Whether the server has made the node is not known. Look for it: ctl nodes show ${name}`, AGAIN]
      : ways,
    cause: error,
  })
}
