import { packageFile } from './package-files.ts'

/** Variables of the process's environment. */
type Environment = Readonly<Record<string, string | undefined>>

/** Whether npm's `npx` started this process. */
export function isByNpx(env: Environment): boolean {
  return env['npm_command'] === 'exec' && env['npm_lifecycle_event'] === 'npx'
}

/**
 * How `npx` finds this program. The name of the command alone will do in a checkout; anywhere else npm would look for a
 * package of that name and run somebody else's.
 */
export function npxCommand(folder: string = packageFile('').pathname): 'npx ctl' | 'npx ctl-mesh' {
  return isInstalled(folder) ? 'npx ctl-mesh' : 'npx ctl'
}

/** How a person types commands beside a server that was started so. */
export function commandBesideServer(env: Environment, folder: string = packageFile('').pathname): string {
  return isInstalled(folder) && !isByNpx(env) ? 'ctl' : npxCommand(folder)
}

/** Whether npm has put the package there, be it for a project, for the machine or into the cache of `npx`. */
function isInstalled(folder: string): boolean {
  return folder.includes('/node_modules/')
}
