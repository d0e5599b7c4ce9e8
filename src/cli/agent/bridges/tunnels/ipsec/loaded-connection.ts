import type { Tunnel } from '../tunnel-driver.ts'
import { connectionName, connectionOf, isInitiator, sharedKeyOf, type ConnectionPlace } from './connection.ts'
import type { IpsecSecret } from './ipsec-secret.ts'
import { proposalsOf } from './proposals.ts'
import type { Vici } from './vici.ts'
import type { ReadSection } from './vici-message.ts'

/** How long charon waits for the other end to confirm that a connection ends. */
const TERMINATE_MS = 1_000

/** A tunnel as it is loaded into charon. */
export interface Loaded {
  readonly tunnel: Tunnel
  readonly secret: IpsecSecret
}

/** Loads a tunnel, or changes it. One that is loaded already, with the same configuration, keeps its connection. */
export async function loadConnection(
  vici: Vici,
  { tunnel, secret }: Loaded,
  place: Omit<ConnectionPlace, 'proposals'>,
): Promise<void> {
  const proposals = proposalsOf(await vici.request('get-algorithms'))
  await vici.request('load-shared', sharedKeyOf(tunnel, secret, place.interfaceName))
  await vici.request('load-conn', connectionOf(tunnel, secret, { ...place, proposals }))
}

/** Ends what runs of a tunnel, and removes its connection and its key. */
export async function unloadConnection(vici: Vici, interfaceName: string): Promise<void> {
  const name = connectionName(interfaceName)
  if ((await connectionNames(vici)).includes(name)) await vici.request('unload-conn', { name })
  await endConnection(vici, interfaceName)
  const { keys } = await vici.request('get-shared')
  if (listOf(keys).includes(name)) await vici.request('unload-shared', { id: name })
}

/** Ends what runs of a tunnel, so that it begins with another key. */
export async function endConnection(vici: Vici, interfaceName: string): Promise<void> {
  const ike = connectionName(interfaceName)
  if ((await connectionsOf(vici, interfaceName)).length === 0) return
  await vici.request('terminate', { ike, force: 'yes', timeout: String(TERMINATE_MS) })
}

/** The names of all connections of a charon. */
export async function connectionNames(vici: Vici): Promise<readonly string[]> {
  return listOf((await vici.request('get-conns'))['conns'])
}

/** Whether the tunnel has a connection that carries packets. Begins one where there is none, and this end may. */
export async function lookAtConnection(vici: Vici, tunnel: Tunnel, interfaceName: string): Promise<boolean> {
  const connections = await connectionsOf(vici, interfaceName)
  const name = connectionName(interfaceName)
  // One that is being made brings its child with it. One that is made may have lost it, or never got it.
  const isUnderWay = connections.some(({ state, children }) => state !== 'ESTABLISHED' || children.length > 0)
  if (!isUnderWay && isInitiator(tunnel)) await vici.request('initiate', { ike: name, child: name, timeout: '-1' })
  return connections.some(({ children }) => children.includes('INSTALLED'))
}

/** An IKE connection of a tunnel. */
interface IkeConnection {
  /** Such as `CONNECTING` and `ESTABLISHED`. */
  readonly state: string
  /** States of the connections for ESP, such as `INSTALLED`. */
  readonly children: readonly string[]
}

async function connectionsOf(vici: Vici, interfaceName: string): Promise<readonly IkeConnection[]> {
  const name = connectionName(interfaceName)
  const events = await vici.list('list-sas', 'list-sa', { ike: name, noblock: 'yes' })
  return events
    .map((event) => sectionOf(event[name]))
    .map((ike) => ({ state: textOf(ike['state']), children: childStates(ike) }))
}

function childStates(ike: ReadSection): readonly string[] {
  return Object.values(sectionOf(ike['child-sas'])).map((child) => textOf(sectionOf(child)['state']))
}

function sectionOf(value: ReadSection[string] | undefined): ReadSection {
  return typeof value === 'object' && !isList(value) ? value : {}
}

function listOf(value: ReadSection[string] | undefined): readonly string[] {
  return typeof value === 'object' && isList(value) ? value : []
}

function isList(value: ReadSection | readonly string[]): value is readonly string[] {
  return Array.isArray(value)
}

function textOf(value: ReadSection[string] | undefined): string {
  return typeof value === 'string' ? value : ''
}
