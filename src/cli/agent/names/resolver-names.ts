import { join } from 'node:path'
import { CliError } from '../../errors/cli-error.ts'
import { explained, reasonOf } from '../errors.ts'
import { existingText } from './existing-text.ts'
import type { NamesService, NamesStatus } from './names-service.ts'
import { createNameTable } from './name-table.ts'
import type { NamesSystem } from './names-system.ts'
import type { SplitDns } from './split-dns.ts'
import { openStubResolver, type StubResolver } from './stub-resolver.ts'

/** A machine that had no split DNS is asked again after this time: its resolver may have started later. */
const RETRY_MS = 60_000

/** What the names of the resolver need of this machine. */
export interface ResolverNamesOptions {
  readonly splitDns: readonly SplitDns[]
  readonly system: NamesSystem
  readonly interfaceName: string
  readonly log: (line: string) => void
}

/** Gives the names to this machine by a resolver, and sends `.mesh` to it by the first way of split DNS that works. */
export async function openResolverNames(options: ResolverNamesOptions): Promise<NamesService> {
  const { system, log } = options
  let table = createNameTable([])
  const opened = await openOrExplain({
    addresses: system.resolverAddresses,
    port: system.resolverPort,
    table: () => table,
    log,
  })
  if (typeof opened === 'string') {
    log(opened)
    return unavailable(opened)
  }
  const configuration = await openConfiguration(opened.address, options)
  return {
    async publish(names) {
      table = createNameTable(names)
      await configuration.refresh()
    },
    status: () => ({ ...configuration.status(), listen: `${opened.address}:${opened.port}` }),
    async close() {
      await configuration.settled()
      await opened.close()
    },
  }
}

async function openOrExplain(options: Parameters<typeof openStubResolver>[0]): Promise<StubResolver | string> {
  try {
    return await openStubResolver(options)
  } catch (error) {
    if (error instanceof CliError) return explained(error)
    throw error
  }
}

function unavailable(fault: string): NamesService {
  return {
    publish: async () => undefined,
    status: () => ({ way: 'none', listen: undefined, fault }),
    close: async () => undefined,
  }
}

type Way = Omit<NamesStatus, 'listen'>

interface Configuration {
  status(): Way
  /** Configures the machine again where that is due: the interface was created again, or there was no split DNS. */
  refresh(): Promise<void>
  /** Resolves once no configuration is under way. */
  settled(): Promise<void>
}

async function openConfiguration(address: string, options: ResolverNamesOptions): Promise<Configuration> {
  const { splitDns, system, interfaceName, log } = options
  const indexFile = join(system.interfacesFolder, interfaceName, 'ifindex')
  const look = async (): Promise<Way> => {
    try {
      const way = await configure(splitDns, address)
      const isNamed = way.way === 'resolver-only' && (await isNameServer(system.resolvConf, address))
      return isNamed ? { ...way, fault: undefined } : way
    } catch (error) {
      // A file of the machine cannot be read. Names are no reason for the agent to end.
      return { way: 'resolver-only', fault: sentence([reasonOf(error)]) }
    }
  }
  let current = { way: await look(), index: await existingText(indexFile), at: performance.now() }
  if (current.way.fault !== undefined) log(current.way.fault)
  let refreshing: Promise<void> = Promise.resolve()

  async function refresh(): Promise<void> {
    const index = await existingText(indexFile)
    const isRetryDue = current.way.fault !== undefined && performance.now() - current.at >= RETRY_MS
    if (index === current.index && !isRetryDue) return
    const way = await look()
    if (way.fault !== undefined && way.fault !== current.way.fault) log(way.fault)
    current = { way, index, at: performance.now() }
  }

  return {
    status: () => current.way,
    refresh() {
      refreshing = refreshing.then(refresh, refresh)
      return refreshing
    },
    async settled() {
      // The callers of `refresh` have its error.
      await refreshing.catch(() => undefined)
    },
  }
}

async function configure(splitDns: readonly SplitDns[], address: string): Promise<Way> {
  const reasons: string[] = []
  for (const one of splitDns) {
    const { isConfigured, fault } = await one.configure(address)
    if (isConfigured) return { way: one.way, fault: fault === undefined ? undefined : sentence([fault]) }
    if (fault !== undefined) reasons.push(fault)
  }
  return { way: 'resolver-only', fault: sentence(reasons) }
}

/** Whether an administrator has named the resolver in resolv.conf, as in a network namespace of a test. */
async function isNameServer(resolvConf: string, address: string): Promise<boolean> {
  const lines = (await existingText(resolvConf)).split('\n')
  return lines.some((line) => /^nameserver\s+(\S+)/.exec(line)?.[1] === address)
}

function sentence(reasons: readonly string[]): string {
  return `Programs of this machine do not find .mesh names: ${reasons.join('; ')}. Start the agent with --hosts to write them to the hosts file instead.`
}
