import { firstLine } from '../system/first-line.ts'
import { existsSync } from 'node:fs'
import { z } from 'zod'
import { parseAddress } from '../../../shared/networks/cidr.ts'
import type { ProgramResult, RunProgram } from '../system/run-program.ts'
import { checkedCidr } from './check-peer.ts'
import { deviceFault } from './device-fault.ts'

/** Missing where the kernel has no IPv6, and `ip -6` fails. */
const IPV6 = '/proc/net/if_inet6'

/** A network interface as the kernel describes it. */
export interface LinkFacts {
  /** `wireguard`, `tun` …; undefined for hardware. */
  readonly kind: string | undefined
  readonly alias: string | undefined
  readonly mtu: number
  readonly isUp: boolean
}

/** One network interface, by iproute2. */
export interface Link {
  /** Undefined: there is none of that name. */
  find(): Promise<LinkFacts | undefined>
  /** Whether there is one of that name. */
  isPresent(): boolean
  /** Makes an interface of the kernel's WireGuard. False: the kernel has no WireGuard. */
  addWireguard(): Promise<boolean>
  setAlias(alias: string): Promise<void>
  setUp(mtu: number): Promise<void>
  /** Gives it this one address as a host address, or none; other ones than link-local are removed. */
  setAddress(address: string | undefined): Promise<void>
  /** Sets exactly these routes through it. `source`: the address of packets that this machine itself sends by them. */
  setRoutes(cidrs: readonly string[], source?: string): Promise<void>
  /** Removes it, if there is one. */
  remove(): Promise<void>
}

const Links = z.array(
  z.object({
    ifname: z.string(),
    mtu: z.number(),
    flags: z.array(z.string()),
    ifalias: z.string().optional(),
    linkinfo: z.object({ info_kind: z.string().optional() }).optional(),
  }),
)
const Addresses = z.array(
  z.object({
    addr_info: z
      .array(z.object({ local: z.string().optional(), prefixlen: z.number().optional(), scope: z.string().optional() }))
      .optional(),
  }),
)
const Routes = z.array(z.object({ dst: z.string(), protocol: z.string().optional(), prefsrc: z.string().optional() }))

/** Reads and changes the interface of that name. */
export function createLink(name: string, run: RunProgram): Link {
  const ip = (args: readonly string[], stdin?: string) => run('ip', args, stdin === undefined ? {} : { stdin })
  const change = async (args: readonly string[]) => {
    const result = await ip(args)
    if (result.exitCode !== 0) throw ipFault(args, result)
  }
  const read = async <T>(shape: z.ZodType<T>, args: readonly string[]) => {
    const result = await ip(args)
    if (result.exitCode !== 0) throw ipFault(args, result)
    return parsed(shape, result.stdout)
  }
  const routes = async () => {
    const families = existsSync(IPV6) ? ['-4', '-6'] : ['-4']
    const both = await Promise.all(families.map((family) => read(Routes, ['-j', family, 'route', 'show', 'dev', name])))
    return both.flat().filter((route) => route.protocol !== 'kernel')
  }

  return {
    async find() {
      const result = await ip(['-j', '-d', 'link', 'show', 'dev', name])
      if (result.exitCode !== 0 && isMissing(result)) return undefined
      if (result.exitCode !== 0) throw ipFault(['link', 'show'], result)
      const [link] = parsed(Links, result.stdout)
      return link === undefined ? undefined : factsOf(link)
    },
    isPresent: () => existsSync(`/sys/class/net/${name}`),
    async addWireguard() {
      const result = await ip(['link', 'add', 'dev', name, 'type', 'wireguard'])
      if (result.exitCode === 0) return true
      if (/unknown device type|not supported/i.test(result.stderr)) return false
      throw ipFault(['link', 'add'], result)
    },
    setAlias: (alias) => change(['link', 'set', 'dev', name, 'alias', alias]),
    setUp: (mtu) => change(['link', 'set', 'dev', name, 'mtu', String(mtu), 'up']),
    async setAddress(address) {
      const wanted = address === undefined ? undefined : hostCidr(address)
      const [addresses] = await read(Addresses, ['-j', 'address', 'show', 'dev', name])
      const had = (addresses?.addr_info ?? []).filter(({ scope }) => scope !== 'link')
      const texts = had.map(({ local, prefixlen }) => `${local}/${prefixlen}`)
      if (wanted !== undefined && !texts.includes(wanted)) await change(['address', 'add', wanted, 'dev', name])
      for (const text of texts.filter((other) => other !== wanted)) {
        await change(['address', 'del', text, 'dev', name])
      }
    },
    async setRoutes(cidrs, source) {
      const wanted = new Map(cidrs.map((text) => sourced(checkedCidr(text), source)))
      const had = new Map((await routes()).map(({ dst, prefsrc = '' }) => [withLength(dst), prefsrc]))
      const isKept = (cidr: string): boolean => {
        const [from, present] = [wanted.get(cidr), had.get(cidr)]
        return from !== undefined && present !== undefined && (from === '' || from === present)
      }
      const lines = [
        ...[...had.keys()].filter((cidr) => !isKept(cidr)).map((cidr) => `route del ${cidr} dev ${name}`),
        ...[...wanted]
          .filter(([cidr]) => !isKept(cidr))
          .map(([cidr, from]) => `route add ${cidr} dev ${name}${from === '' ? '' : ` src ${from}`}`),
      ]
      if (lines.length === 0) return
      // With -force one route that is refused does not keep the others from being set.
      const result = await ip(['-force', '-batch', '-'], `${lines.join('\n')}\n`)
      if (result.exitCode !== 0) throw routeFault(result, lines)
    },
    async remove() {
      const result = await ip(['link', 'del', 'dev', name])
      if (result.exitCode !== 0 && !isMissing(result)) throw ipFault(['link', 'del'], result)
    },
  }
}

/** The route with the address that it sends from; empty where it is not of its family. */
function sourced(cidr: string, source: string | undefined): readonly [cidr: string, source: string] {
  if (source === undefined || cidr.includes(':') !== source.includes(':')) return [cidr, '']
  hostCidr(source)
  return [cidr, source]
}

function factsOf(link: z.infer<typeof Links>[number]): LinkFacts {
  return {
    kind: link.linkinfo?.info_kind,
    alias: link.ifalias,
    mtu: link.mtu,
    isUp: link.flags.includes('UP'),
  }
}

function hostCidr(address: string): string {
  const words = parseAddress(address)
  if (words === undefined) throw deviceFault(`${JSON.stringify(address)} is not an IP address.`)
  return `${address}/${words.length * 32}`
}

/** iproute2 leaves the length of a host route out, and says `default` for the route to everything. */
function withLength(dst: string): string {
  return dst.includes('/') || dst === 'default' ? dst : hostCidr(dst)
}

function parsed<T>(shape: z.ZodType<T>, stdout: string): T {
  try {
    return shape.parse(stdout.trim() === '' ? [] : JSON.parse(stdout))
  } catch (error) {
    throw deviceFault('ip printed JSON that this version does not know.', { cause: error })
  }
}

function isMissing(result: ProgramResult): boolean {
  return /cannot find device|does not exist/i.test(result.stderr)
}

function ipFault(args: readonly string[], { stderr }: ProgramResult): Error {
  const words = args.filter((arg) => !arg.startsWith('-')).slice(0, 2)
  return deviceFault(`ip ${words.join(' ')} failed: ${firstLine(stderr)}`)
}

/** Names the first route that was refused: `Command failed -:3` has the number of its line. */
function routeFault({ stderr }: ProgramResult, lines: readonly string[]): Error {
  const number = Number(/Command failed -:(\d+)/.exec(stderr)?.[1] ?? '1')
  const line = lines[number - 1] ?? 'route'
  return deviceFault(`ip ${line} failed: ${firstLine(stderr)}`, {
    code: 'route_refused',
    hint: 'Look for another program that has this route: ip route show',
  })
}
