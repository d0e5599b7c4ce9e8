import { readlinkSync } from 'node:fs'
import { createLink, type LinkFacts } from '../device/network-link.ts'
import { ok, problem, skipped, warning, type Finding } from '../../commands/doctor/finding.ts'
import { reasonOf, systemCode } from '../errors.ts'
import { aliasOf } from '../system/own-links.ts'
import type { RunProgram } from '../system/run-program.ts'
import type { RunningFacts } from './doctor-facts.ts'
import { readIp, type IpRoute } from './read-ip.ts'

/** What WireGuard adds to a packet in IPv4 and in IPv6: headers of IP and UDP, and 32 bytes of its own. */
const OVERHEAD = { ipv4: 60, ipv6: 80 } as const

/** The interface of the running agent, its MTU and its routes. */
export async function lookAtInterface(facts: RunningFacts): Promise<readonly Finding[]> {
  const { run } = facts.system
  const name = facts.status.interface.name
  try {
    if (isElsewhere(facts.status.pid)) return [ELSEWHERE]
    const link = await createLink(name, run).find()
    if (link === undefined)
      return [problem('interface', `there is no ${name}`, 'See ctl agent logs; restart the agent.')]
    return [ownership(facts, link), await mtu(facts, link.mtu), await routes(run, facts)]
  } catch (error) {
    return [problem('interface', `it cannot be looked at: ${reasonOf(error)}`, 'Mend what is above first.')]
  }
}

const ELSEWHERE = problem(
  'interface',
  'the agent runs in another network namespace',
  'Run this there: ip netns exec NAME ctl agent doctor',
)

/** Whether the process is in another network namespace than this one. One that is gone is not. */
function isElsewhere(pid: number): boolean {
  const namespaceOf = (process: number | 'self'): string => readlinkSync(`/proc/${process}/ns/net`)
  try {
    return namespaceOf(pid) !== namespaceOf('self')
  } catch (error) {
    if (['ENOENT', 'EACCES', 'EPERM'].includes(systemCode(error))) return false
    throw error
  }
}

function ownership({ status, state }: RunningFacts, { alias, isUp }: LinkFacts): Finding {
  const { name, kind, listen_port: port } = status.interface
  if (alias !== aliasOf(state.enrolment.node_id))
    return problem('interface', `${name} does not belong to this node`, 'Choose another name: ctl agent up --interface')
  if (!isUp) return problem('interface', `${name} is down`, `ip link set ${name} up`)
  return ok('interface', `${name} (${kind}) is up, UDP port ${port}`)
}

async function mtu({ system: { run }, state }: RunningFacts, own: number): Promise<Finding> {
  const uplink = await uplinkMtu(run)
  if (uplink === undefined) return skipped('mtu', 'there is no default route to compare with')
  const largest = { ipv4: uplink.mtu - OVERHEAD.ipv4, ipv6: uplink.mtu - OVERHEAD.ipv6 }
  if (own <= largest.ipv6) return ok('mtu', `${own}, and ${uplink.mtu} on ${uplink.name}`)
  const advice = `Start the agent with --mtu ${largest.ipv6}`
  if (own > largest.ipv4)
    return problem(
      'mtu',
      `packets of ${own} bytes do not fit through ${uplink.name}, which takes ${uplink.mtu}`,
      advice,
    )
  const { machine } = state
  return warning(
    'mtu',
    `${own} of ${machine.interface_name} fits through ${uplink.name} over IPv4, and not over IPv6`,
    advice,
  )
}

interface Uplink {
  readonly name: string
  readonly mtu: number
}

async function uplinkMtu(run: RunProgram): Promise<Uplink | undefined> {
  const defaults = await readIp<IpRoute>(run, ['route', 'show', 'default'])
  const name = defaults[0]?.dev
  if (name === undefined) return undefined
  const link = await createLink(name, run).find()
  return link === undefined ? undefined : { name, mtu: link.mtu }
}

/** Each peer with a key has a route of its own. */
async function routes(run: RunProgram, { status, peers }: RunningFacts): Promise<Finding> {
  const { name } = status.interface
  const there = new Set((await readIp<IpRoute>(run, ['-4', 'route', 'show', 'dev', name])).map(({ dst }) => dst))
  const missing = peers.filter(({ mesh_address: address, has_key: hasKey }) => hasKey && !there.has(address))
  if (missing.length === 0) return ok('routes', `all of ${peers.length} peers lead through ${name}`)
  const first = missing[0]?.mesh_address ?? ''
  return problem(
    'routes',
    `${missing.length} of ${peers.length} peers do not lead through ${name}, such as ${first}`,
    `Another program may have the route: ip route get ${first}; see ctl agent logs.`,
  )
}
