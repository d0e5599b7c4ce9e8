import { packageFile } from './package-files.ts'

/** Variables of the process's environment. */
type Environment = Readonly<Record<string, string | undefined>>

/** Whether npm's `npx` started this process. */
export function isByNpx(env: Environment): boolean {
  return env['npm_command'] === 'exec' && env['npm_lifecycle_event'] === 'npx'
}

/**
 * How `npx` finds this program. The name of the command is enough in a checkout; elsewhere npm would look for a
 * package of that name and run another one.
 */
export function npxCommand(folder: string = packageFile('').pathname): 'npx ctl' | 'npx ctl-mesh' {
  return isInstalled(folder) ? 'npx ctl-mesh' : 'npx ctl'
}

/** How to type commands, given how the server was started. */
export function commandBesideServer(env: Environment, folder: string = packageFile('').pathname): string {
  return isInstalled(folder) && !isByNpx(env) ? 'ctl' : npxCommand(folder)
}

/** Whether npm has put the package there, be it for a project, for the machine or into the cache of `npx`. */
function isInstalled(folder: string): boolean {
  return folder.includes('/node_modules/')
}
