import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { reasonOf, systemCode } from '../errors.ts'
import { answerQuery } from './answer-query.ts'
import type { NameTable } from './name-table.ts'
import { createTcpQueries, isLoopback } from './tcp-queries.ts'

/** A resolver of the mesh's names on a loopback address, over UDP and TCP. */
export interface StubResolver {
  readonly address: string
  readonly port: number
  close(): Promise<void>
}

export interface StubResolverOptions {
  /** Loopback addresses, tried in this order: another program may have the port of one. */
  readonly addresses: readonly string[]
  /** 53; 0 takes a free one. */
  readonly port: number
  /** The names of now; read for each query. */
  readonly table: () => NameTable
  readonly log: (line: string) => void
}

/**
 * Listens on the first address whose port is free.
 *
 * @throws CliError `resolver_not_listening` where none is, or this process may not listen there.
 */
export async function openStubResolver(options: StubResolverOptions): Promise<StubResolver> {
  for (const address of options.addresses) {
    try {
      return await listen(address, options)
    } catch (error) {
      if (systemCode(error) !== 'EADDRINUSE') throw notListening(address, options.port, error)
    }
  }
  throw new CliError(
    `Port ${options.port} is in use on ${options.addresses[0] ?? 'loopback'} and the addresses after it.`,
    {
      exitCode: EXIT.conflict,
      code: 'resolver_not_listening',
      hints: ['Another resolver of this machine has it: see which with ss -lup, or use --hosts.'],
    },
  )
}

function notListening(address: string, port: number, cause: unknown): CliError {
  const isRefused = systemCode(cause) === 'EACCES'
  return new CliError(`The resolver cannot listen on ${address}:${port}: ${reasonOf(cause)}.`, {
    exitCode: isRefused ? EXIT.denied : EXIT.failed,
    code: 'resolver_not_listening',
    hints: isRefused ? ['Run the agent as root or with CAP_NET_BIND_SERVICE, or use --hosts.'] : ['Use --hosts.'],
    cause,
  })
}

async function listen(address: string, { port, table, log }: StubResolverOptions): Promise<StubResolver> {
  const udp = createSocket('udp4')
  const tcp = createTcpQueries((query) => answerQuery(query, table(), 'tcp'))
  try {
    udp.bind({ address, port, exclusive: true })
    await once(udp, 'listening')
    // With port 0 both get the same number.
    tcp.server.listen({ host: address, port: udp.address().port, exclusive: true })
    await once(tcp.server, 'listening')
  } catch (error) {
    await Promise.all([closeUdp(udp), tcp.close()])
    throw error
  }
  const report = createReporter(log)
  answerDatagrams(udp, { table, report })
  tcp.server.on('error', report)
  let closed: Promise<unknown> | undefined
  return {
    address,
    port: udp.address().port,
    close: async () => {
      closed ??= Promise.all([closeUdp(udp), tcp.close()])
      await closed
    },
  }
}

function answerDatagrams(
  udp: Socket,
  { table, report }: { table: () => NameTable; report: (error: Error) => void },
): void {
  udp.on('error', report)
  udp.on('message', (query, from) => {
    const answer = isLoopback(from.address) ? answerQuery(query, table(), 'udp') : undefined
    if (answer !== undefined)
      udp.send(answer, from.port, from.address, (error) => {
        if (error !== null) report(error)
      })
  })
}

/** Logs each kind of error once: a program that asks often would fill the log. */
function createReporter(log: (line: string) => void): (error: Error) => void {
  const reported = new Set<string>()
  return (error) => {
    const kind = systemCode(error) || error.name
    if (reported.has(kind)) return
    reported.add(kind)
    log(`The resolver of mesh names failed: ${error.message}. Later errors of this kind are not logged.`)
  }
}

function closeUdp(udp: Socket): Promise<void> {
  return new Promise((resolve) => udp.close(() => resolve()))
}
