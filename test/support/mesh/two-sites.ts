import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tunnel } from '../../../src/cli/agent/bridges/tunnels/tunnel-driver.ts'
import { isMarked } from '../../../src/cli/agent/system/marked-processes.ts'
import { type Box, createLab, type Lab } from './lab.ts'
import { pidsIn } from './namespaces.ts'
import { startTunnelDriver, type TunnelDriverProcess, type TunnelSide } from './tunnel-driver-process.ts'

/** The interface of the tunnel on both sides. */
export const TUNNEL = 'ctltunnel0'

/** One end of a tunnel: a box with a network of its own behind it, and an agent's driver. */
export interface Site {
  readonly box: Box
  readonly side: TunnelSide
  /** An address of its network. */
  readonly address: string
  driver: TunnelDriverProcess
  /** Rejects with why the tunnel is not applied. */
  apply(tunnel: Partial<Tunnel> & Pick<Tunnel, 'remote_host' | 'remote_port'>, secret: unknown): Promise<void>
  remove(): Promise<unknown>
  fault(): Promise<unknown>
  /** Kills the driver as nothing that it can prepare for, and starts another one with the same state folder. */
  restart(): Promise<void>
  output(...argv: readonly string[]): Promise<string>
  /** The processes that carry the tunnel. */
  carriers(): Promise<readonly number[]>
  /** Whether the address of the other site answers, from the address of this site. */
  reaches(address: string): Promise<boolean>
  /** Files that the driver has left in its state folder. */
  files(): readonly string[]
}

/** Two sites of a lab, whose networks are 10.50.0.0/24 and 10.60.0.0/24. */
export interface TwoSites {
  readonly lab: Lab
  readonly one: Site
  readonly other: Site
  close(): Promise<void>
}

/** Makes two sites that have no tunnel yet. `bundle`: of `tunnel-driver-child`. */
export async function createTwoSites(
  options: Pick<TunnelSide, 'kind' | 'hasXfrmStandIn'>,
  bundle: string,
): Promise<TwoSites> {
  const lab = await createLab({ prefix: `ctl${options.kind}` })
  const root = mkdtempSync(join(tmpdir(), 'ctl-tunnels-'))
  const site = async (name: string, network: string, subnet: string): Promise<Site> => {
    const folder = mkdtempSync(join(root, name))
    const mesh = { cidr: `${network}.0/24`, address: `${network}.1` }
    const side: TunnelSide = { ...options, owner: `node-${name}`, folder, mesh }
    return siteOf(lab, await lab.box(name), { bundle, side, subnet })
  }
  return {
    lab,
    one: await site('one', '10.50.0', '10.60.0.0/24'),
    other: await site('other', '10.60.0', '10.50.0.0/24'),
    async close() {
      await lab.close()
      rmSync(root, { recursive: true })
    },
  }
}

interface Parts {
  readonly bundle: string
  readonly side: TunnelSide
  /** The network of the other site. */
  readonly subnet: string
}

function siteOf(lab: Lab, box: Box, { bundle, side, subnet }: Parts): Site {
  const start = () => startTunnelDriver(lab, box, { bundle, side })
  const place = { bridgeId: '0197a000-0000-7000-8000-00000000b001', interfaceName: TUNNEL }
  const tunnelOf = (given: Parameters<Site['apply']>[0], secret: unknown): Tunnel => ({
    slug: 'hq',
    kind: side.kind,
    allowed_subnets: [subnet],
    routing_policy: 'bidirectional',
    secret: new TextEncoder().encode(typeof secret === 'string' ? secret : JSON.stringify(secret)),
    ...given,
  })
  const site: Site = {
    box,
    side,
    address: side.mesh.address,
    driver: start(),
    async apply(given, secret) {
      const fault = await site.driver.call({ method: 'apply', place, tunnel: tunnelOf(given, secret) })
      if (typeof fault === 'string') throw new Error(fault)
    },
    remove: () => site.driver.call({ method: 'remove', interfaceName: TUNNEL }),
    fault: () => site.driver.call({ method: 'fault', interfaceName: TUNNEL }),
    async restart() {
      await site.driver.kill()
      site.driver = start()
    },
    output: async (...argv) => (await lab.exec(box, argv)).stdout,
    async carriers() {
      const name = side.kind === 'ipsec' ? 'charon' : TUNNEL
      const pids = await pidsIn(box.namespace.name)
      return pids.filter((pid) => isMarked(pid, { CTL_TUNNEL: join(side.folder, name) }))
    },
    async reaches(address) {
      const ping = ['ping', '-c', '1', '-W', '1', '-I', side.mesh.address, address]
      return (await lab.exec(box, ping)).exitCode === 0
    },
    files: () => readdirSync(side.folder),
  }
  return site
}
