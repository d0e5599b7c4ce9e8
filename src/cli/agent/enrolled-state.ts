import { usageError } from '../errors/cli-error.ts'
import type { Session } from '../session/session.ts'
import { readTokenFile } from '../session/token-file.ts'
import type { UpFlags } from '../commands/agent/flags.ts'
import type { EnrolledState } from './agent-core.ts'
import { openConnection } from './connection.ts'
import { requireFreeDevice } from './device/open-device.ts'
import { enrol } from './enrol.ts'
import { agentError } from './errors.ts'
import { EXIT } from '../errors/exit-code.ts'
import { refuseLeftInterface } from './left-interface.ts'
import type { Place } from './place.ts'
import { agentBinary } from './process/agent-binary.ts'
import { requireNetAdmin } from './system/privileges.ts'
import { runProgram } from './system/run-program.ts'
import { machineOf, nodeNameOf, serverOf, serverUrlOf } from './settings-of-flags.ts'
import type { AgentState, MachineSettings } from './state/agent-state.ts'
import { openStateFolder } from './state/state-folder.ts'
import { readState, writeState } from './state/state-file.ts'
import { wayBack } from './way-back.ts'

/**
 * The state of the node: as an earlier run has left it, with the settings of the flags; a new one after an enrolment where there is
 * none, or where the server has refused the former key and there is a join token. The caller holds the lock.
 *
 * @throws CliError for whatever keeps the node from being enrolled.
 */
export async function enrolledState(session: Session, flags: UpFlags, place: Place): Promise<EnrolledState> {
  const before = await readState(place.state)
  assertSameServer(before, flags)
  if (isEnrolled(before) && (before.enrolment.refused === undefined || flags['join-token-file'] === undefined))
    return withSettings(before, flags, place)
  const state = await enrolNow(session, flags, { place, before })
  if (isEnrolled(state)) return state
  throw new Error('an enrolment has no node')
}

/** What the agent needs of the machine before it touches any file. @throws CliError */
export async function openPlace(place: Place): Promise<void> {
  requireLinux()
  requireNetAdmin()
  await openStateFolder(place.directory)
}

/** @throws CliError on another system. */
export function requireLinux(): void {
  if (process.platform === 'linux') return
  throw agentError('not_linux', `the agent runs on Linux, and this is ${process.platform}`, { exitCode: EXIT.usage })
}

/** Whether the state has a node. */
export function isEnrolled(state: AgentState | undefined): state is EnrolledState {
  return state?.enrolment !== undefined
}

/** Refuses the server of the flags where the machine is a node of another one. @throws CliError */
export function assertSameServer(state: AgentState | undefined, { server }: UpFlags): void {
  if (!isEnrolled(state) || state.enrolment.refused !== undefined || server === undefined) return
  const { url } = state.server
  if (serverUrlOf(server) === url) return
  throw agentError('enrolled_elsewhere', `this machine is a node of ${url}, not of ${server}`, {
    exitCode: EXIT.conflict,
    hints: ['Name another --state-dir, --interface and --listen-port for a second mesh.'],
  })
}

/** The settings of the machine by the flags; undefined where they are as before. @throws CliError */
export function changedMachine({ machine: before }: AgentState, flags: UpFlags): MachineSettings | undefined {
  const machine = machineOf(flags, before)
  return JSON.stringify(machine) === JSON.stringify(before) ? undefined : machine
}

async function withSettings(state: EnrolledState, flags: UpFlags, place: Place): Promise<EnrolledState> {
  const { refused } = state.enrolment
  if (refused !== undefined)
    throw agentError(refused.code, `the server refuses the key of this node since ${refused.at}: ${state.server.url}`, {
      exitCode: EXIT.signedOut,
      hints: [wayBack(refused.code)],
    })
  const machine = changedMachine(state, flags)
  if (machine === undefined) return state
  if (machine.interface_name !== state.machine.interface_name) await refuseLeftInterface(runProgram, state)
  const changed = { ...state, machine }
  await writeState(place.state, changed)
  return changed
}

interface Enrolling {
  readonly place: Place
  readonly before: AgentState | undefined
}

async function enrolNow(session: Session, flags: UpFlags, { place, before }: Enrolling): Promise<AgentState> {
  const { server: given, 'join-token-file': tokenFile } = flags
  const { server: known, machine: settings, enrolment, enrolling }: Partial<AgentState> = before ?? {}
  const url = given ?? known?.url
  if (url === undefined || tokenFile === undefined)
    throw usageError(
      'this machine is not enrolled yet, which needs --server and --join-token-file',
      'Make a token where you are signed in: ctl join-tokens create',
    )
  const machine = machineOf(flags, settings)
  const name = nodeNameOf(flags, enrolment?.name ?? enrolling?.name)
  const joinToken = await joinTokenOf(session, tokenFile)
  // Else the node would be made and the token used for a machine that cannot carry the mesh.
  if (enrolment === undefined)
    await requireFreeDevice({ name: machine.interface_name, listenPort: machine.listen_port })
  const server = await serverOf({ ...flags, server: url }, known)
  const connection = openConnection({ server, manifest: session.manifest(), userAgent: session.userAgent })
  try {
    return await enrol({
      client: connection.client,
      joinToken,
      name,
      server,
      machine,
      binary: await agentBinary(session.version),
      before: enrolling,
      write: (state) => writeState(place.state, state),
      now: () => new Date(session.io.nowMs()),
    })
  } finally {
    connection.close()
  }
}

const TOKEN_BYTES_MAX = 4_096

async function joinTokenOf(session: Session, file: string): Promise<string> {
  if (file !== '-') return readTokenFile(file, '--join-token-file', (line) => session.warn(line))
  const token = (await session.io.stdin.text(TOKEN_BYTES_MAX)).trim()
  if (token === '' || /\s/.test(token))
    throw usageError('--join-token-file - reads one token from stdin, which has none')
  return token
}
