import { namedSecrets } from '../../../shared/bridges/named-secrets.ts'
import { fingerprintOf } from '../../../shared/policies/fingerprint.ts'
import { canonicalTextOf } from '../state/canonical-text.ts'

/** A bridge as state pulls and `bridge_config_updated` carry it. */
export interface GivenBridge {
  readonly bridge_resource_id: string
  /** `{}`: the node no longer hosts the bridge. */
  readonly effective_config: Readonly<Record<string, unknown>>
}

/** A configuration of a bridge that the node hosts, checked for its form and order. */
export interface ReadBridge {
  readonly resourceId: string
  /** RFC 8785 text. Equal texts are equal configurations. */
  readonly config: string
  /** SHA-256 of the text in padded base64. */
  readonly fingerprint: string
  /** References to secrets that the configuration names, ascending. */
  readonly secretRefs: readonly string[]
}

/** Reads a configuration; undefined if a host must refuse it (agent-protocol: Bridges). Not called with `{}`. */
export type BridgeReader = (given: GivenBridge) => ReadBridge | undefined

/** Makes a reader. `digest`: SHA-256 in padded base64; default: noble's, which runs everywhere. */
export function createBridgeReader(digest: (text: string) => string = fingerprintOf): BridgeReader {
  return ({ bridge_resource_id: resourceId, effective_config: given }) => {
    const config = isConfig(given) ? canonicalTextOf(given) : undefined
    if (config === undefined) return undefined
    return { resourceId, config, fingerprint: digest(config), secretRefs: namedSecrets(given) }
  }
}

/** What a pull changed. */
export interface BridgeChanges {
  /** Ids of bridges whose configuration is another one, or that the node no longer hosts. */
  readonly changed: readonly string[]
  /** Ids of bridges whose configuration was refused. The former one stays. */
  readonly refused: readonly string[]
}

/** The bridges that a node hosts, from its pulls and events. */
export interface OwnBridges {
  /**
   * Takes the bridges of a pull. `updated`: ids of those that events changed since the request was sent. They stay as they
   * are, because the answer may be older.
   */
  replace(given: readonly GivenBridge[], updated?: ReadonlySet<string>): BridgeChanges
  /** Takes a `bridge_config_updated`. Returns false and changes nothing if the configuration must be refused. */
  apply(given: GivenBridge): boolean
  find(resourceId: string): ReadBridge | undefined
  /** Ordered by resource id. */
  list(): readonly ReadBridge[]
}

const NONE: ReadonlySet<string> = new Set()

/** Makes the bridges of a node that hosts none yet. */
export function createOwnBridges(read: BridgeReader = createBridgeReader()): OwnBridges {
  const bridges = new Map<string, ReadBridge>()

  /** Whether the configuration was taken. */
  function take(given: GivenBridge): boolean {
    if (isEnd(given)) {
      bridges.delete(given.bridge_resource_id)
      return true
    }
    const bridge = read(given)
    if (bridge !== undefined) bridges.set(bridge.resourceId, bridge)
    return bridge !== undefined
  }

  return {
    apply: take,
    replace(given, updated = NONE) {
      const before = new Map(bridges)
      const pulled = new Set(given.map(({ bridge_resource_id: id }) => id))
      for (const id of before.keys()) if (!pulled.has(id) && !updated.has(id)) bridges.delete(id)
      const refused = given.filter((one) => !updated.has(one.bridge_resource_id) && !take(one))
      const changed = [...new Set([...before.keys(), ...bridges.keys()])].filter(
        (id) => before.get(id)?.config !== bridges.get(id)?.config,
      )
      return { changed, refused: refused.map(({ bridge_resource_id: id }) => id) }
    },
    find: (resourceId) => bridges.get(resourceId),
    list: () => [...bridges.values()].toSorted((one, other) => (one.resourceId < other.resourceId ? -1 : 1)),
  }
}

function isEnd({ effective_config: config }: GivenBridge): boolean {
  return Object.keys(config).length === 0
}

/** Whether the four parts are there, and every list in its order. Members that are not known are let through. */
function isConfig({ ingress, relay, tunnels, user_access: userAccess }: GivenBridge['effective_config']): boolean {
  const lists = [ingress, tunnels, userAccess]
  if (!lists.every((list) => isAscending(valuesOf(list, 'slug')))) return false
  if (!isRelay(relay) || !haveOrderedPeers(userAccess)) return false
  return Array.isArray(tunnels) && tunnels.every((tunnel) => isAscending(textsOf(membersOf(tunnel)['allowed_subnets'])))
}

/** A provider without a subnet for peers has no list of them. */
function haveOrderedPeers(providers: unknown): boolean {
  if (!Array.isArray(providers)) return false
  const lists = providers
    .map((provider: unknown) => membersOf(provider)['peers'])
    .filter((peers) => peers !== undefined)
  return lists.every((peers) => isAscending(valuesOf(peers, 'public_key')))
}

function isRelay(relay: unknown): boolean {
  if (relay === null) return true
  const { assignments, enabled, listen_port: port } = membersOf(relay)
  return typeof enabled === 'boolean' && typeof port === 'number' && isAscending(valuesOf(assignments, 'peer_node_id'))
}

/** The texts of a member of each item; undefined if it is no list, or an item has no text there. */
function valuesOf(list: unknown, member: string): readonly string[] | undefined {
  return Array.isArray(list) ? textsOf(list.map((item: unknown) => membersOf(item)[member])) : undefined
}

function textsOf(list: unknown): readonly string[] | undefined {
  return Array.isArray(list) && list.every((text) => typeof text === 'string') ? list : undefined
}

/** Whether the texts ascend by their bytes, each once. All of them are ASCII. */
function isAscending(texts: readonly string[] | undefined): boolean {
  return texts !== undefined && texts.every((text, index) => index === 0 || text > (texts[index - 1] ?? ''))
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
