import type { AgentCore } from '../../agent-core.ts'
import type { Firewall } from '../../firewall/firewall.ts'
import type { Forward } from '../../firewall/firewall-view.ts'
import { isOwnLink } from '../../system/own-links.ts'
import { createForwardingFirewall, type ForwardingFirewall } from './forwarding-firewall.ts'
import { createForwardingSetting } from './forwarding-setting.ts'
import { writeForwards } from './forwards-file.ts'

/** What is forwarded: what an earlier process did, and what the bridges want now. */
export interface ForwardedBefore {
  readonly before: readonly Forward[]
  readonly forwards: () => readonly Forward[]
}

/** A bridge waits so long for the policies that are applied first. */
const PATIENCE_MS = 10_000

/** Puts what this machine forwards for bridges under its firewall. */
export function openForwarding(core: AgentCore, firewall: Firewall, forwarded: ForwardedBefore): ForwardingFirewall {
  const { log, clock, ending, place, state } = core
  const { node_id: nodeId } = state.enrolment
  return createForwardingFirewall({
    ...forwarded,
    firewall,
    setting: createForwardingSetting(interfacesOf(forwarded.before, state.machine.interface_name)),
    isOwn: (name) => isOwnLink(name, nodeId),
    remember: (forwards) => writeForwards(place.forwards, nodeId, forwards),
    log: (line) => log.line(line),
    patience: () => clock.pause(PATIENCE_MS, ending.signal),
  })
}

/** The interfaces that let these be forwarded. */
export function interfacesOf(forwards: readonly Forward[], meshInterface: string): readonly string[] {
  return forwards.length === 0 ? [] : [meshInterface, ...forwards.map(({ interfaceName }) => interfaceName)]
}
