import type { Candidate, PartName } from './bridge-parts.ts'
import type { Conflict } from './bridge-world.ts'

/** What parts of one bridge have claimed, and which part claimed it. */
export interface Claims {
  /** The conflicts of a part with those that were added, in the order of `conflictsOf`. */
  conflictsOf(candidate: Candidate): readonly Conflict[]
  add(candidate: Candidate): void
}

/** Parts by what they claim. Parts that conflict with each other have the same key. */
type Holders<Key> = Map<Key, PartName[]>

/** The name of a part in conflicts. */
export function nameOf(candidate: Candidate): PartName {
  return candidate.part === 'relay' ? 'relay' : `${candidate.part}/${candidate.value.slug}`
}

/**
 * Makes an empty set of claims to ports, interface names and server names (decisions: Ports). A listener claims its port on
 * every host. An ingress rule claims its port on its target, a host or not. Tunnels claim nothing here.
 */
export function createClaims(hostIds: readonly string[]): Claims {
  const hosts = new Set(hostIds)
  const listeners: Holders<number> = new Map()
  const targets: Holders<string> = new Map()
  const portsOnHosts: Holders<number> = new Map()
  const interfaces: Holders<string> = new Map()
  const names: Holders<string> = new Map()

  const ports = (part: PartName, port: number, holders: readonly PartName[]): Conflict[] =>
    holders.map((holder) => ({ code: 'bridge_port_conflict', part, port, with: holder }))

  function listenerConflicts(part: PartName, port: number): Conflict[] {
    return ports(part, port, [...of(listeners, port), ...of(portsOnHosts, port)])
  }

  return {
    conflictsOf(candidate) {
      const name = nameOf(candidate)
      if (candidate.part === 'relay') return listenerConflicts(name, candidate.value.listen_port)
      if (candidate.part === 'user-access') {
        const { listen_port, interface_name } = candidate.value
        const taken = of(interfaces, interface_name)
        return [
          ...listenerConflicts(name, listen_port),
          ...taken.map((holder) => ({ code: 'interface_name_conflict' as const, part: name, with: holder })),
        ]
      }
      if (candidate.part === 'site-to-site') return []
      const { target_node_id: node, target_port: port, sni_host } = candidate.value
      const listening = hosts.has(node) ? of(listeners, port) : []
      return [
        ...ports(name, port, [...listening, ...of(targets, targetOf(node, port))]),
        ...of(names, sni_host).map((holder) => ({ code: 'slug_conflict' as const, part: name, with: holder })),
      ]
    },

    add(candidate) {
      const name = nameOf(candidate)
      if (candidate.part === 'relay') hold(listeners, candidate.value.listen_port, name)
      if (candidate.part === 'user-access') {
        hold(listeners, candidate.value.listen_port, name)
        hold(interfaces, candidate.value.interface_name, name)
      }
      if (candidate.part !== 'ingress') return
      const { target_node_id: node, target_port: port, sni_host } = candidate.value
      hold(targets, targetOf(node, port), name)
      if (hosts.has(node)) hold(portsOnHosts, port, name)
      hold(names, sni_host, name)
    },
  }
}

function targetOf(nodeId: string, port: number): string {
  return `${nodeId}:${port}`
}

function of<Key>(holders: Holders<Key>, key: Key): readonly PartName[] {
  return holders.get(key) ?? []
}

function hold<Key>(holders: Holders<Key>, key: Key, name: PartName): void {
  const present = holders.get(key)
  if (present === undefined) holders.set(key, [name])
  else present.push(name)
}
