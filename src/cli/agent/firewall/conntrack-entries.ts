import type { FlowProtocol } from '../../../shared/policies/prepare-policies.ts'

/** A flow that connection tracking knows. */
export interface TrackedFlow {
  readonly protocol: FlowProtocol
  /** As its first packet was, before an address was translated. */
  readonly source: string
  readonly destination: string
  readonly port: number | undefined
  /** The source of its replies: the destination after translation. */
  readonly replySource: string
  readonly replyPort: number | undefined
}

const FIELD = /\b(src|dst|sport|dport)=(\S+)/g
const PROTOCOLS: Readonly<Record<string, FlowProtocol>> = { tcp: 'tcp', udp: 'udp', icmp: 'icmp' }

/** Reads what `conntrack -L` prints. Flows of other protocols than TCP, UDP and ICMP are left out. */
export function parseConntrack(stdout: string): readonly TrackedFlow[] {
  return stdout.split('\n').flatMap((line) => {
    const protocol = PROTOCOLS[line.slice(0, line.indexOf(' '))]
    const flow = protocol === undefined ? undefined : flowOf(protocol, line)
    return flow === undefined ? [] : [flow]
  })
}

function flowOf(protocol: FlowProtocol, line: string): TrackedFlow | undefined {
  // The fields come twice: of the original direction, then of the replies.
  const values = new Map<string, string[]>()
  for (const [, name = '', value = ''] of line.matchAll(FIELD)) values.set(name, [...(values.get(name) ?? []), value])
  const valueAt = (name: string, index: number) => values.get(name)?.[index]
  const [source, destination, replySource] = [valueAt('src', 0), valueAt('dst', 0), valueAt('src', 1)]
  if (source === undefined || destination === undefined || replySource === undefined) return undefined
  const [port, replyPort] = [portOf(valueAt('dport', 0)), portOf(valueAt('sport', 1))]
  return { protocol, source, destination, port, replySource, replyPort }
}

function portOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}
