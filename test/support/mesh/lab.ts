import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { type ProgramResult, runProgram } from '../../../src/cli/agent/system/run-program.ts'
import { leftovers, makeNamespace, type Namespace, removeNamespace } from './namespaces.ts'

/** A machine of the lab: a network namespace with one uplink, `eth0`. */
export interface Box {
  readonly name: string
  /** Of its uplink; behind a NAT a private one. */
  readonly address: string
  /** The address from which others see its packets. */
  readonly publicAddress: string
  /** Of its uplink, where the lab has IPv6 and the box is not behind a NAT. */
  readonly address6: string | undefined
  readonly namespace: Namespace
  /** The namespace of its NAT router. */
  readonly router: Namespace | undefined
}

/** Machines on an internet of their own, 10.99.0.0/16 or another network, and fd99::/16. */
export interface Lab {
  /** A machine with a public address. */
  box(name: string): Promise<Box>
  /** A machine behind a router that rewrites source addresses; fully random: and picks a new port for each destination. */
  natBox(name: string, options?: { readonly isFullyRandom?: boolean }): Promise<Box>
  /**
   * Machines behind one router that rewrites source addresses, each in a network of its own that the router connects. It does not
   * return packets that are sent from inside to its public address.
   */
  natSite(name: string, boxes: readonly string[]): Promise<readonly Box[]>
  /** Runs a program in a box to its end. */
  exec(box: Box, argv: readonly string[], options?: Parameters<typeof runProgram>[2]): Promise<ProgramResult>
  /** Starts a program in a box. It is killed when the lab is closed. */
  spawn(box: Box, argv: readonly string[], options?: SpawnOptions): ChildProcess
  /** Drops every packet between two boxes, until they are restored. */
  cut(one: Box, other: Box): Promise<void>
  restore(one: Box, other: Box): Promise<void>
  /** Ends all processes of the lab and removes it. */
  close(): Promise<void>
}

const FIREWALL = `
table inet lab {
  set cut { type ipv4_addr . ipv4_addr
  }
  set cut6 { type ipv6_addr . ipv6_addr
  }
  chain forward {
    type filter hook forward priority 0
    ip saddr . ip daddr @cut drop
    ip6 saddr . ip6 daddr @cut6 drop
  }
}
`

/**
 * Makes a lab. Its namespaces are named `<prefix>-<pid>-<box>`; those of earlier runs whose process is gone are removed. Nothing
 * outside of them changes.
 */
export async function createLab({
  prefix,
  hasIpv6 = false,
  network = '10.99',
}: {
  readonly prefix: string
  readonly hasIpv6?: boolean
  /** The first half of IPv4 addresses of the internet. Those of 10.99 are private. */
  readonly network?: string
}): Promise<Lab> {
  for (const name of leftovers(prefix)) await removeNamespace(name)
  const made: Namespace[] = []
  const spawned: ChildProcess[] = []
  const make = async (name: string) => {
    const namespace = await makeNamespace(`${prefix}-${process.pid}-${name}`)
    made.push(namespace)
    return namespace
  }
  const close = async () => {
    // One that was started a moment ago may be in no namespace yet.
    for (const child of spawned.splice(0)) child.kill('SIGKILL')
    for (const { name } of made.splice(0).toReversed()) await removeNamespace(name)
  }
  try {
    const internet = await make('internet')
    await forward(internet)
    await internet.nft(FIREWALL)
    return { ...boxes({ make, internet, hasIpv6, network }), ...paths(internet), ...programs(spawned), close }
  } catch (error) {
    await close()
    throw error
  }
}

interface Ground {
  readonly make: (name: string) => Promise<Namespace>
  readonly internet: Namespace
  readonly hasIpv6: boolean
  readonly network: string
}

function boxes({ make, internet, hasIpv6, network }: Ground): Pick<Lab, 'box' | 'natBox' | 'natSite'> {
  let count = 0
  const uplink = async (namespace: Namespace) => {
    count += 1
    const number = count
    const address = `${network}.${number}.2`
    const address6 = hasIpv6 ? `fd99:0:0:${number}::2` : undefined
    await connect(internet, { port: `to${number}`, gateway: `${network}.${number}.1`, to: namespace, address })
    if (hasIpv6)
      await connect6(internet, {
        port: `to${number}`,
        gateway: `fd99:0:0:${number}::1`,
        to: namespace,
        address: `fd99:0:0:${number}::2`,
      })
    return { number, address, address6 }
  }
  return {
    async box(name) {
      const namespace = await make(name)
      const { address, address6 } = await uplink(namespace)
      return { name, address, publicAddress: address, address6, namespace, router: undefined }
    },
    async natBox(name, { isFullyRandom = false } = {}) {
      const router = await make(`${name}-nat`)
      const namespace = await make(name)
      const { number, address: publicAddress } = await uplink(router)
      const address = `192.168.${number}.2`
      await connect(router, { port: 'lan', gateway: `192.168.${number}.1`, to: namespace, address })
      await forward(router)
      await router.nft(masquerade(isFullyRandom))
      return { name, address, publicAddress, address6: undefined, namespace, router }
    },
    async natSite(site, names) {
      const router = await make(`${site}-nat`)
      const { number, address: publicAddress } = await uplink(router)
      await forward(router)
      await router.nft(masquerade(false))
      const made: Box[] = []
      for (const [index, name] of names.entries()) {
        const namespace = await make(name)
        const [gateway, address] = [`10.${number}.${index}.1`, `10.${number}.${index}.2`]
        await connect(router, { port: `lan${index}`, gateway, to: namespace, address })
        made.push({ name, address, publicAddress, address6: undefined, namespace, router })
      }
      return made
    },
  }
}

/**
 * As home routers have it. One that let new packets in to itself would remember their ports as taken, and give the machine behind
 * it another port towards that peer.
 */
function masquerade(isFullyRandom: boolean): string {
  return `
table ip nat {
  chain postrouting {
    type nat hook postrouting priority srcnat
    oifname "eth0" masquerade${isFullyRandom ? ' fully-random' : ''}
  }
}
table inet filter {
  chain input {
    type filter hook input priority filter
    iifname "eth0" ct state new drop
  }
}
`
}

interface Cable {
  readonly port: string
  readonly gateway: string
  readonly to: Namespace
  readonly address: string
}

/** Connects `eth0` of a namespace to a router, which becomes its default route. */
async function connect(router: Namespace, { port, gateway, to, address }: Cable): Promise<void> {
  await router.ip([
    `link add ${port} type veth peer name eth0 netns ${to.name}`,
    `address add ${gateway}/24 dev ${port}`,
    `link set ${port} up`,
  ])
  await to.ip([`address add ${address}/24 dev eth0`, 'link set eth0 up', `route add default via ${gateway}`])
}

async function connect6(router: Namespace, { port, gateway, to, address }: Cable): Promise<void> {
  await router.ip([`address add ${gateway}/64 dev ${port} nodad`])
  await to.ip([`address add ${address}/64 dev eth0 nodad`, `route add default via ${gateway}`])
  await reached(to, gateway)
}

/** Waits for an IPv6 neighbour, which a new link finds only after a moment. */
async function reached(from: Namespace, gateway: string): Promise<void> {
  for (let tries = 0; tries < 20; tries += 1) {
    const ping = ['ping', '-c', '1', '-W', '1', gateway]
    const { exitCode } = await runProgram('ip', ['netns', 'exec', from.name, ...ping])
    if (exitCode === 0) return
  }
  throw new Error(`${from.name} does not reach ${gateway}.`)
}

async function forward(router: Namespace): Promise<void> {
  const settings = ['net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1']
  const result = await runProgram('ip', ['netns', 'exec', router.name, 'sysctl', '-qw', ...settings])
  if (result.exitCode !== 0) throw new Error(result.stderr)
}

function paths(internet: Namespace): Pick<Lab, 'cut' | 'restore'> {
  const change = (verb: 'add' | 'delete') => async (one: Box, other: Box) => {
    const [a, b] = [one.publicAddress, other.publicAddress]
    await internet.nft(`${verb} element inet lab cut { ${a} . ${b}, ${b} . ${a} }`)
    const [a6, b6] = [one.address6, other.address6]
    if (a6 === undefined || b6 === undefined) return
    await internet.nft(`${verb} element inet lab cut6 { ${a6} . ${b6}, ${b6} . ${a6} }`)
  }
  return { cut: change('add'), restore: change('delete') }
}

function programs(spawned: ChildProcess[]): Pick<Lab, 'exec' | 'spawn'> {
  return {
    exec(box, argv, options) {
      const [program = '', ...args] = [...box.namespace.enter, ...argv]
      return runProgram(program, args, options)
    },
    spawn(box, argv, options = {}) {
      const [program = '', ...args] = [...box.namespace.enter, ...argv]
      const child = spawn(program, args, options)
      spawned.push(child)
      return child
    },
  }
}
