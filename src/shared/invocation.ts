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

/**
 * How pages of the server name the command. They are also read on other machines, where `npx ctl` would find a package of that name
 * instead of the checkout.
 *
 * @param beside how it is typed beside the server
 * @param baseUrl the origin of the pages
 */
export function commandOnPages(beside: string, baseUrl: string): string {
  return beside === 'npx ctl' && !LOOPBACK.test(new URL(baseUrl).hostname) ? 'npx ctl-mesh' : beside
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Whether npm has put the package there, be it for a project, for the machine or into the cache of `npx`. */
function isInstalled(folder: string): boolean {
  return folder.includes('/node_modules/')
}
