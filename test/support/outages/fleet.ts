import { join } from 'node:path'
import { vi } from 'vitest'
import { startSimulation, type Simulation } from '../fleet/simulation.ts'
import { callServer } from '../server/replicas.ts'
import type { Plane } from './plane.ts'

export interface FleetOptions {
  readonly folder: string
  readonly nodes: number
  readonly seconds: number
  /** Default: 1. */
  readonly heartbeatSeconds?: number
}

/** Starts a fleet that reports and holds streams all the while; resolves once all of its nodes have reported. */
export async function startFleet(
  { server, token }: Plane,
  { folder, nodes, seconds, heartbeatSeconds = 1 }: FleetOptions,
): Promise<Simulation> {
  const fleet = startSimulation({ CTL_URL: server.url, CTL_TOKEN: token, CTL_CONFIG_DIR: join(folder, 'config') }, [
    ...`--nodes ${nodes} --duration ${seconds}s --heartbeat-interval ${heartbeatSeconds}s --deregister`.split(' '),
    ...'--fail-on missed_events>0,bad_signatures>0 -o json'.split(' '),
  ])
  const areReporting = async (): Promise<boolean> => {
    const { body } = await callServer(server, { token, path: '/v1/nodes?reachability=healthy&limit=200' })
    return (body['items'] as readonly unknown[]).length >= Math.min(nodes, 200)
  }
  await vi.waitUntil(areReporting, { timeout: 300_000, interval: 500 })
  return fleet
}
