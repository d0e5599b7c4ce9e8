import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { BootError } from '../ports/boot-error.ts'
import type { Address } from '../config/values.ts'
import { isCtlServer } from '../commands/detect-ctl-server.ts'

/** What to tell an operator who wants an address that cannot be had, by system code. */
const ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; stop it or choose another port',
  EACCES: 'this user may not listen there; choose a port from 1024 up',
  EADDRNOTAVAIL: 'this machine has no such address; choose one that it has',
  ENOTFOUND: 'the host name does not resolve; give an address',
}

/**
 * Finds out whether the address can be listened on, before anything is written, and which port it is where a free one
 * was asked for. @throws BootError
 */
export async function probeAddress(address: Address, flag: string): Promise<Address> {
  const server = createServer()
  const port = await listenOn(server, address, flag).catch(async (error: unknown) => {
    throw (await namedHolder(error, address, flag)) ?? error
  })
  server.close()
  await once(server, 'close')
  return { host: address.host, port }
}

/** Where an address that listens everywhere is reached from here. */
const HERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** The URL under which this machine reaches a server of its own. A certificate names loopback, and no wildcard address. */
export function urlFromHere(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}

/** The sentence for a port that another ctl server uses; undefined for another program's port, or another failure. */
async function namedHolder(error: unknown, { host, port }: Address, flag: string): Promise<BootError | undefined> {
  const cause = error instanceof BootError ? error.cause : undefined
  const isTaken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'
  if (!isTaken || !(await isCtlServer(hostPort({ host: HERE[host] ?? host, port })))) return undefined
  const message = `Cannot listen on ${hostPort({ host, port })}: another ctl server answers there; use it, stop it, or choose another port with ${flag}.`
  return new BootError(1, message, error)
}

/** Listens and resolves with the port. @throws BootError in one sentence that names the flag. */
export async function listenOn(server: Server, { host, port }: Address, flag: string): Promise<number> {
  try {
    server.listen({ host, port })
    await once(server, 'listening')
  } catch (error) {
    throw listenFailure(error, { host, port }, flag)
  }
  // A TCP server that listens has an address of this shape.
  return (server.address() as AddressInfo).port
}

/** The sentence for an address that could not be had; anything unexpected comes back as it is. */
export function listenFailure(error: unknown, { host, port }: Address, flag: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const advice = ADVICE[code]
  if (advice === undefined) return error
  return new BootError(1, `Cannot listen on ${hostPort({ host, port })}: ${advice} with ${flag}.`, error)
}

/** `host:port`, an IPv6 address in brackets. */
export function hostPort({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
