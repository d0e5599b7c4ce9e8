import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import ipaddr from 'ipaddr.js'
import { once } from 'node:events'
import { isIP } from 'node:net'
import type { EndpointAddress } from '../../endpoints/endpoint-address.ts'
import { reasonOf, systemCode } from '../../errors.ts'

/** What is done with a packet. */
export interface RelaySocketOptions {
  readonly port: number
  readonly onPacket: (packet: Buffer, from: EndpointAddress) => readonly EndpointAddress[]
  /** The socket of a family stopped working, or a packet could not be sent. The reason has no address, which a stranger may have made up. */
  readonly onFault: (reason: string) => void
}

/** One UDP port, in IPv4 and, where the machine has it, in IPv6. */
export interface RelaySocket {
  send(packet: Buffer, to: EndpointAddress): void
  close(): Promise<void>
}

/** Packets that wait for the process while it does something else. The kernel may allow less. */
const BUFFER_BYTES = 4 * 1024 * 1024
/** Packets that wait in this process because the link is slower than what comes in. Further ones are lost, as in a router. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024
const NO_IPV6: ReadonlySet<string> = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL'])

/** Opens the port. Rejects with the error of the system. */
export async function openRelaySocket({ port, onPacket, onFault }: RelaySocketOptions): Promise<RelaySocket> {
  const sockets = new Map<number, Socket>()

  function send(packet: Buffer, { host, port: toPort }: EndpointAddress): void {
    const socket = sockets.get(isIP(host))
    if (socket === undefined || socket.getSendQueueSize() > WAITING_BYTES_MAX) return
    // A packet that cannot be sent is lost, as on any link; why is a fault of the relay.
    socket.send(packet, toPort, host, (error) => {
      if (error !== null) onFault(`some packets cannot be sent in IPv${isIP(host)}: ${systemCode(error)}`)
    })
  }

  function take(packet: Buffer, { address, port: fromPort }: RemoteInfo): void {
    // A link-local sender has a zone, which nothing that the server knows has.
    if (address.includes('%') || fromPort === 0) return
    const from = { host: ipaddr.process(address).toString(), port: fromPort }
    for (const to of onPacket(packet, from)) send(packet, to)
  }

  async function open(family: 4 | 6): Promise<void> {
    const socket = createSocket({ type: `udp${family}`, ipv6Only: family === 6, recvBufferSize: BUFFER_BYTES })
    try {
      socket.bind(port, family === 4 ? '0.0.0.0' : '::')
      await once(socket, 'listening')
    } catch (error) {
      // It keeps its descriptor also where it could not be bound.
      socket.close()
      throw error
    }
    socket.on('error', (error) => onFault(reasonOf(error)))
    socket.on('message', take)
    sockets.set(family, socket)
  }

  const close = async (): Promise<void> => {
    const closing = [...sockets.values()].map((socket) => new Promise<void>((resolve) => socket.close(() => resolve())))
    sockets.clear()
    await Promise.all(closing)
  }

  await open(4)
  try {
    await open(6)
  } catch (error) {
    if (!NO_IPV6.has(systemCode(error))) {
      await close()
      throw error
    }
  }
  return { send, close }
}
