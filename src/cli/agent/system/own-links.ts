import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readIp } from '../doctor/read-ip.ts'
import { systemCode } from '../errors.ts'
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

/** The interfaces with the alias of the node. @throws CliError where `ip` is not installed. */
export async function ownLinks(run: RunProgram, owner: string): Promise<readonly OwnLink[]> {
  const links = await readIp<ListedLink>(run, ['-d', 'link', 'show'])
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
