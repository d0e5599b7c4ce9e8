import { lookup } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { systemCode } from '../errors.ts'
import type { MachineAddresses } from '../server-answers/mesh-network.ts'
import { aliasOf } from './own-links.ts'
import type { RunProgram } from './run-program.ts'

/** How the addresses of this machine are found. */
export interface MachineQuery {
  readonly run: RunProgram
  /** Base URL. */
  readonly serverUrl: string
  /** The interface of the mesh, whose addresses do not count. */
  readonly interfaceName: string
  /** The node id: nor do those of its other interfaces count. Tunnels to other sites have the mesh address, too. */
  readonly owner: string
  readonly resolvConf?: string
}

interface Hop {
  readonly gateway?: string
  readonly dev?: string
}

interface Route extends Hop {
  readonly dst?: string
  /** Of a route over several gateways, which has none of its own. */
  readonly nexthops?: readonly Hop[]
}

interface Link {
  readonly ifname?: string
  readonly ifalias?: string
  readonly addr_info?: readonly { readonly local?: string }[]
}

/** Reads the addresses that the mesh must leave alone. @throws CliError where `ip` is not installed. */
export async function machineAddresses(query: MachineQuery): Promise<MachineAddresses> {
  const { run, serverUrl, interfaceName, owner, resolvConf = '/etc/resolv.conf' } = query
  const routes = await Promise.all(['-4', '-6'].map((family) => ip<Route>(run, [family, 'route', 'show', 'default'])))
  const defaults = routes.flat().flatMap(({ nexthops, ...hop }): readonly Hop[] => nexthops ?? [hop])
  const servers = await addressesOf(serverUrl)
  const links = await ip<Link>(run, ['address', 'show'])
  const toServers = (await Promise.all(servers.map((address) => routeTo(run, address)))).flat()
  const uplinks = new Set([...defaults, ...toServers].map(({ dev }) => dev).filter((dev) => dev !== 'lo'))
  const resolvers = await Promise.all(
    (await nameServers(resolvConf)).map(async (address) => {
      const isByUplink = (await routeTo(run, address)).some(({ dev }) => uplinks.has(dev))
      return isByUplink ? [address] : []
    }),
  )
  const isOwn = ({ ifname, ifalias }: Link): boolean => ifname === interfaceName || ifalias === aliasOf(owner)
  const addressesOn = (isWanted: (link: Link) => boolean): readonly string[] =>
    links.filter(isWanted).flatMap(({ addr_info: infos = [] }) => texts(infos.map(({ local }) => local)))
  return {
    gateways: texts(defaults.map(({ gateway }) => gateway)),
    uplinks: addressesOn(({ ifname }) => uplinks.has(ifname)),
    others: addressesOn((link) => !isOwn(link)),
    resolvers: resolvers.flat(),
    servers,
    connected: await connectedNetworks(run, new Set(texts(links.filter(isOwn).map(({ ifname }) => ifname)))),
  }
}

/** Those for which the kernel makes routes, because interfaces have addresses in them. */
async function connectedNetworks(run: RunProgram, ownInterfaces: ReadonlySet<string>): Promise<readonly string[]> {
  const families = ['-4', '-6'].map((family) => ip<Route>(run, [family, 'route', 'show', 'proto', 'kernel']))
  const routes = (await Promise.all(families)).flat()
  return routes.flatMap(({ dst = '', dev = '' }) => (dst.includes('/') && !ownInterfaces.has(dev) ? [dst] : []))
}

/** What `ip -j` prints; empty where it prints nothing or fails, as it does for a route that does not exist. */
async function ip<T>(run: RunProgram, args: readonly string[]): Promise<readonly T[]> {
  const { stdout, exitCode } = await run('ip', ['-j', ...args])
  if (exitCode !== 0 || stdout.trim() === '') return []
  const value: unknown = JSON.parse(stdout)
  return Array.isArray(value) ? (value as readonly T[]) : []
}

function routeTo(run: RunProgram, address: string): Promise<readonly Hop[]> {
  return isIP(address) === 0 ? Promise.resolve([]) : ip<Hop>(run, ['route', 'get', address])
}

/** The addresses of the server's name; none where it cannot be resolved now. */
async function addressesOf(url: string): Promise<readonly string[]> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch (error) {
    if (systemCode(error) === '') throw error
    return []
  }
}

async function nameServers(path: string): Promise<readonly string[]> {
  try {
    return [...(await readFile(path, 'utf8')).matchAll(/^[ \t]*nameserver[ \t]+([0-9a-fA-F.:]+)/gm)].map(
      ([, address]) => address ?? '',
    )
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}

function texts(values: readonly (string | undefined)[]): readonly string[] {
  return values.filter((value) => value !== undefined)
}
