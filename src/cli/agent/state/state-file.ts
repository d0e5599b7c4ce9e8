import * as fs from 'node:fs/promises'
import { agentError, reasonOf, systemCode } from '../errors.ts'
import type { AgentState, Enrolment } from './agent-state.ts'
import { replaceFile, type FileSystem } from './atomic-file.ts'

/**
 * Reads the state file; undefined where there is none.
 *
 * @throws CliError where it cannot be read, is open to others, or is no state file.
 */
export async function readState(path: string): Promise<AgentState | undefined> {
  let text: string
  try {
    await refuseOpenFile(path)
    text = await fs.readFile(path, 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    if (systemCode(error) === '') throw error
    throw agentError('state_unreadable', `${path} cannot be read: ${reasonOf(error)}`, { cause: error })
  }
  return parsed(text, path)
}

/** Others may read the keys in a file with such a mode. */
async function refuseOpenFile(path: string): Promise<void> {
  const { mode } = await fs.stat(path)
  if ((mode & 0o077) === 0) return
  throw agentError('state_open_to_others', `${path} has the keys of the node, and other users can open it`, {
    hints: [`chmod 600 ${path}, and enrol the node again if others may have read it.`],
  })
}

/** Writes the state file. @throws CliError where that fails; the old file is then as it was. */
export async function writeState(path: string, state: AgentState, system?: FileSystem): Promise<void> {
  try {
    await replaceFile(path, `${JSON.stringify(state)}\n`, system)
  } catch (error) {
    throw agentError('state_not_written', `${path} could not be written: ${reasonOf(error)}`, {
      hints: ['Free space on that disk, or lift its read-only mode. The former state file is as it was.'],
      cause: error,
    })
  }
}

function parsed(text: string, path: string): AgentState {
  const refuse = (why: string, cause?: unknown) =>
    agentError('state_unreadable', `${path} is not the state of an agent: ${why}`, {
      hints: ['Restore it from a backup, or move it away and enrol the node again with a token made with --node.'],
      cause,
    })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw refuse('it is not JSON', error)
  }
  const fault = faultOf(value)
  if (fault !== undefined) throw refuse(fault)
  // The shape was checked.
  return value as AgentState
}

function faultOf(value: unknown): string | undefined {
  const { format, server, machine, enrolment } = members(value)
  if (format !== 1) return 'its format is not 1'
  const { url } = members(server)
  const { interface_name, listen_port } = members(machine)
  if (typeof url !== 'string' || typeof interface_name !== 'string' || typeof listen_port !== 'number')
    return 'a setting is missing'
  return enrolment === undefined ? undefined : enrolmentFault(members(enrolment))
}

const TEXTS = ['node_id', 'domain_id', 'name', 'mesh_address', 'nsk', 'private_key', 'psk_issued_at'] as const
const OBJECTS = ['epochs', 'executions'] as const

function enrolmentFault(enrolment: Readonly<Record<string, unknown>>): string | undefined {
  const missing = TEXTS.find((member: keyof Enrolment) => typeof enrolment[member] !== 'string')
  const unread = missing ?? OBJECTS.find((member) => typeof enrolment[member] !== 'object')
  if (unread !== undefined) return `${unread} is missing`
  return typeof enrolment['heartbeat_interval_seconds'] === 'number' ? undefined : 'the heartbeat interval is missing'
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
