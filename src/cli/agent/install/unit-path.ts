import { isAbsolute, normalize } from 'node:path'
import { usageError } from '../../errors/cli-error.ts'

/** Characters that systemd takes as they are: no blank, quote, `%`, `$`, backslash or line break. */
const PLAIN = /^[A-Za-z0-9/_.+@:-]+$/
/** Folders that the unit hides from the agent (ProtectHome, PrivateTmp), and those that are empty after a restart. */
const HIDDEN = ['/home', '/root', '/run', '/tmp', '/var/tmp', '/var/run', '/dev', '/proc', '/sys'] as const

/**
 * Checks a path that the unit is to have. It is written as it is, never escaped.
 *
 * @throws CliError for a path with other characters, a relative one, or one that the agent would not see.
 */
export function unitPath(path: string, what: string): string {
  if (!PLAIN.test(path))
    throw usageError(
      `${what} ${JSON.stringify(path)} cannot be written into a unit of systemd`,
      'Use a path of letters, digits and / _ . + @ : -',
    )
  if (!isAbsolute(path) || normalize(path) !== path || path.endsWith('/'))
    throw usageError(`${what} ${path} is no absolute path in its shortest form`)
  const hidden = hiddenFolder(path)
  if (hidden === undefined) return path
  throw usageError(
    `${what} ${path} is in ${hidden}, which the service does not see`,
    'Use a folder of the system, such as one in /var/lib, /opt or /usr/local.',
  )
}

/** The folder above the path that services do not see, or that a restart of the machine empties. */
export function hiddenFolder(path: string): string | undefined {
  return HIDDEN.find((folder) => path === folder || path.startsWith(`${folder}/`))
}

const UNIT = /^ctl-agent(?:-[a-z0-9][a-z0-9_.-]{0,63})?$/

/**
 * The name of the unit of a state folder: that of the folder, so that a machine can have several agents.
 *
 * @throws CliError for a folder with another name.
 */
export function unitNameOf(stateDir: string): string {
  const name = stateDir.split('/').at(-1) ?? ''
  if (UNIT.test(name)) return `${name}.service`
  throw usageError(
    `the state folder ${stateDir} gives the unit no name`,
    'Name the folder ctl-agent, or ctl-agent-NAME with lower-case letters and digits, such as /var/lib/ctl-agent-lab.',
  )
}
