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
  /** Makes an interface of the kernel's WireGuard. False: the kernel has no WireGuard. */
  addWireguard(): Promise<boolean>
  setAlias(alias: string): Promise<void>
  setUp(mtu: number): Promise<void>
  /** Gives it this one address as a host address; other ones than link-local are removed. */
  setAddress(address: string): Promise<void>
  /** Sets exactly these routes through it. */
  setRoutes(cidrs: readonly string[]): Promise<void>
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
const Routes = z.array(z.object({ dst: z.string(), protocol: z.string().optional() }))

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
    async addWireguard() {
      const result = await ip(['link', 'add', 'dev', name, 'type', 'wireguard'])
      if (result.exitCode === 0) return true
      if (/unknown device type|not supported/i.test(result.stderr)) return false
      throw ipFault(['link', 'add'], result)
    },
    setAlias: (alias) => change(['link', 'set', 'dev', name, 'alias', alias]),
    setUp: (mtu) => change(['link', 'set', 'dev', name, 'mtu', String(mtu), 'up']),
    async setAddress(address) {
      const wanted = hostCidr(address)
      const [addresses] = await read(Addresses, ['-j', 'address', 'show', 'dev', name])
      const had = (addresses?.addr_info ?? []).filter(({ scope }) => scope !== 'link')
      const texts = had.map(({ local, prefixlen }) => `${local}/${prefixlen}`)
      if (!texts.includes(wanted)) await change(['address', 'add', wanted, 'dev', name])
      for (const text of texts.filter((other) => other !== wanted)) {
        await change(['address', 'del', text, 'dev', name])
      }
    },
    async setRoutes(cidrs) {
      const wanted = new Set(cidrs.map(checkedCidr))
      const had = new Set((await routes()).map(({ dst }) => withLength(dst)))
      const lines = [
        ...[...had].filter((cidr) => !wanted.has(cidr)).map((cidr) => `route del ${cidr} dev ${name}`),
        ...[...wanted].filter((cidr) => !had.has(cidr)).map((cidr) => `route add ${cidr} dev ${name}`),
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
