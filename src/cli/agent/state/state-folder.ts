import { stat } from 'node:fs/promises'
import { agentError, reasonOf } from '../errors.ts'
import { makeFolder } from '../../files/make-folder.ts'

const WRITABLE_BY_OTHERS = 0o022

/**
 * Makes the state folder with mode 0700 unless it exists.
 *
 * @throws CliError where it cannot be made, belongs to another user, or can be written by others.
 */
export async function openStateFolder(path: string): Promise<void> {
  try {
    makeFolder(path, 0o700)
  } catch (error) {
    throw agentError('state_dir_unusable', `${path} cannot be made: ${reasonOf(error)}`, {
      hints: ['Name another folder with --state-dir.'],
      cause: error,
    })
  }
  const { mode, uid } = await stat(path)
  if (uid !== process.geteuid?.())
    throw unusable(`${path} belongs to another user`, 'Run the agent as that user, or name another --state-dir.')
  if ((mode & WRITABLE_BY_OTHERS) !== 0)
    throw unusable(`${path} can be written by others, who could replace the keys in it`, `chmod 700 ${path}`)
}

function unusable(message: string, hint: string) {
  return agentError('state_dir_unusable', message, { hints: [hint] })
}
