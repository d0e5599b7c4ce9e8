import { stat } from 'node:fs/promises'
import { ok, problem, warning, type Finding } from '../../commands/doctor/finding.ts'
import type { EnrolledState } from '../agent-core.ts'
import { isEnrolled } from '../enrolled-state.ts'
import { reasonOf, systemCode } from '../errors.ts'
import type { Place } from '../place.ts'
import { readState } from '../state/state-file.ts'
import { wayBack } from '../way-back.ts'

/** What the files of the agent are, and the state in them. */
export interface StateFindings {
  readonly findings: readonly Finding[]
  readonly state: EnrolledState | undefined
}

/** Looks at the state folder, the state file, and whether they have a node that the server knows. */
export async function lookAtState({ directory, state: path }: Place): Promise<StateFindings> {
  const folder = await folderOf(directory)
  if (folder.status !== 'ok') return { findings: [folder], state: undefined }
  try {
    const state = await readState(path)
    if (!isEnrolled(state)) return { findings: [folder, notEnrolled()], state: undefined }
    return { findings: [folder, ok('state', `${path} is open to its user alone`), enrolment(state)], state }
  } catch (error) {
    return { findings: [folder, problem('state', reasonOf(error), adviceOf(error))], state: undefined }
  }
}

async function folderOf(path: string): Promise<Finding> {
  try {
    const { uid, mode } = await stat(path)
    if (uid !== process.geteuid?.())
      return problem('folder', `${path} belongs to another user`, 'Run the agent as that user, or as root: sudo')
    if ((mode & 0o022) !== 0)
      return problem(
        'folder',
        `${path} can be written by others, who could replace the keys in it`,
        `chmod 700 ${path}`,
      )
    return ok('folder', path)
  } catch (error) {
    if (systemCode(error) === 'ENOENT')
      return problem(
        'agent',
        `there is no agent on this machine: ${path} does not exist`,
        'Name the folder of another agent with --state-dir, or enrol this machine: ctl agent up --server URL --join-token-file FILE',
      )
    return problem('folder', `${path} cannot be looked at: ${reasonOf(error)}`, 'Run it with sudo.')
  }
}

function notEnrolled(): Finding {
  return warning(
    'enrolment',
    'this machine is not enrolled',
    'ctl agent up --server URL --join-token-file FILE, with a token of "ctl join-tokens create"',
  )
}

function enrolment({ enrolment: { name, node_id: id, refused }, server }: EnrolledState): Finding {
  if (refused === undefined) return ok('enrolment', `${name} (${id}) of ${server.url}`)
  return problem(
    'enrolment',
    `${server.url} refuses the key of ${name} since ${refused.at} (${refused.code})`,
    wayBack(refused.code, name),
  )
}

function adviceOf(error: unknown): string {
  const hints = error instanceof Error && 'hints' in error ? error.hints : undefined
  return Array.isArray(hints) ? hints.join(' ') : ''
}
