import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentError, systemCode } from '../errors.ts'
import type { RunProgram } from './run-program.ts'

/** An interface that belongs to a node. */
export interface OwnLink {
  readonly name: string
  /** `wireguard`, `tun`, `xfrm` … */
  readonly kind: string | undefined
}

interface ListedLink {
  readonly ifname?: string
  readonly ifalias?: string
  readonly linkinfo?: { readonly info_kind?: string }
}

/** The alias by which the interfaces of a node are known, also after the process that made them has ended. */
export function aliasOf(owner: string): string {
  return `ctl ${owner}`
}

/**
 * The interfaces with the alias of the node.
 *
 * @throws CliError where `ip` is not installed or fails: that says nothing of the interfaces, and what they belong to must not count
 *   as gone.
 */
export async function ownLinks(run: RunProgram, owner: string): Promise<readonly OwnLink[]> {
  const { stdout, stderr, exitCode } = await run('ip', ['-j', '-d', 'link', 'show'])
  if (exitCode !== 0)
    throw agentError('ip_failed', `the interfaces of this machine cannot be listed: ip: ${stderr.trim().slice(0, 200)}`)
  const links = stdout.trim() === '' ? [] : (JSON.parse(stdout) as readonly ListedLink[]) // The format of iproute2.
  return links.flatMap(({ ifname: name, ifalias, linkinfo }) =>
    name !== undefined && ifalias === aliasOf(owner) ? [{ name, kind: linkinfo?.info_kind }] : [],
  )
}

/** Whether an interface of that name is there and has the alias of the node. */
export function isOwnLink(name: string, owner: string, folder = '/sys/class/net'): boolean {
  try {
    return readFileSync(join(folder, name, 'ifalias'), 'utf8').trim() === aliasOf(owner)
  } catch (error) {
    // It is not there, or goes at this moment.
    if (['ENOENT', 'ENODEV', 'EINVAL'].includes(systemCode(error))) return false
    throw error
  }
}
