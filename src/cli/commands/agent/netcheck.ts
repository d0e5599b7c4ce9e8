import { requireLinux } from '../../agent/enrolled-state.ts'
import { checkNetwork, type NetworkCheck } from '../../agent/netcheck/check-network.ts'
import { runProgram } from '../../agent/system/run-program.ts'
import { defineCommand } from '../../argv/command.ts'
import type { Session } from '../../session/session.ts'
import { STATE_DIR_FLAG } from './flags.ts'
import { placeIn } from './place-in.ts'

const COLUMNS = ['name', 'mesh_address', 'endpoint', 'path', 'relay', 'latest_handshake_at', 'rtt_ms'] as const

export const netcheck = defineCommand({
  description: [
    'Shows the addresses of this machine, the endpoint that the node reports, whether its UDP port is bound, and each peer with its endpoint, its path, its relay and the round-trip time of one ping through the tunnel. A policy that drops ICMP leaves the time out.',
    'What the server has as the endpoint of the node is shown by "ctl nodes show". Packet filters of this machine and on the way are not looked at.',
  ].join('\n'),
  flags: STATE_DIR_FLAG,
  uses: ['output'],
  examples: ['ctl agent netcheck', "ctl agent netcheck -o json --jq '.peers[] | select(.rtt_ms == null) | .name'"],
  async run(session, { flags }) {
    requireLinux()
    const place = placeIn(session, flags)
    const check = await checkNetwork({ place, run: runProgram })
    await session.emit(check, { columns: COLUMNS, rows: 'peers' })
    noteOwn(session, check)
  },
})

const NAT = {
  none: 'its address is public',
  likely: 'its address is private, and peers are not reached directly: a translation on the way is likely',
  unknown: 'its address is private or missing; nothing shows whether there is a translation on the way',
} as const

/** About the machine itself, as talk: the table has the peers. */
function noteOwn(session: Session, check: NetworkCheck): void {
  const { local_addresses: local, own_endpoint: endpoint, listen_port: port, is_port_bound: isBound, server } = check
  const addresses = [...local.ipv4, ...local.ipv6]
  session.note(`Addresses of this machine: ${addresses.length === 0 ? 'none' : addresses.join(', ')}`)
  session.note(`Reported endpoint: ${endpoint ?? 'none'}; ${NAT[check.nat]}.`)
  if (!isBound) session.warn(`no socket has UDP port ${port}, so that no peer reaches this node: ctl agent doctor`)
  if (server.reachable === false) session.warn(`${server.url} is away; the tunnels stay up`)
  const silent = check.peers.filter(({ rtt_ms: rtt }) => rtt === null).length
  session.note(`${check.peers.length - silent} of ${check.peers.length} peers answer.`)
}
