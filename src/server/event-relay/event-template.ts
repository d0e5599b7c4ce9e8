import type { WireType } from '../../shared/events/wire-types.ts'

/**
 * An event payload that many nodes share. The payload of a node is `before`, or `before` + node id + `after` if `after` is
 * set. Stored bytes, such as rules, are included unchanged; the datastore copies them for each node.
 */
export interface Template {
  /** Number of the outbox row that it is made from. */
  readonly seq: bigint
  readonly type: WireType
  readonly occurredAt: Date
  readonly before: string
  readonly after: string | undefined
}

/** An event for one node. The events of a node have the order of their outbox rows. */
export interface NodeEvent {
  readonly nodeId: string
  readonly template: Template
}

/** Canonical JSON of an empty rule list and of an empty configuration: they announce the end of a policy or of a bridge. */
const NO_RULES = '[]'
const NO_CONFIG = '{}'
/** SHA-256 of `[]` in padded base64. */
const NO_RULES_FINGERPRINT = 'T1PNoYwrqgwDVLtfmj7L5e0Sq02OEbqHPC8RFhICuUU='

type Event = Pick<Template, 'seq' | 'occurredAt'>

/** Rules as they are stored. */
export interface StoredRules {
  readonly policyId: string
  readonly revisionId: string
  readonly fingerprint: string
  /** Canonical JSON. */
  readonly rules: string
}

/** S0 PolicyUpdatedPayload, members in canonical order. */
export function policyTemplate({ seq, occurredAt }: Event, stored: StoredRules): Template {
  const before = `{"fingerprint":"${stored.fingerprint}","node_id":"`
  const after = `","policy_id":"${stored.policyId}","revision_id":"${stored.revisionId}","rules":${stored.rules}}`
  return { seq, occurredAt, type: 'policy_updated', before, after }
}

/** The policy no longer applies to the node. `last`: the last revision that did (S0 PolicyUpdatedPayload). */
export function endOfPolicy(event: Event, last: Pick<StoredRules, 'policyId' | 'revisionId'>): Template {
  return policyTemplate(event, { ...last, fingerprint: NO_RULES_FINGERPRINT, rules: NO_RULES })
}

/**
 * S0 BridgeConfigUpdatedPayload, members in canonical order. `config`: canonical JSON; undefined if the bridge was
 * removed.
 */
export function bridgeTemplate({ seq, occurredAt }: Event, resourceId: string, config = NO_CONFIG): Template {
  const before = `{"bridge_resource_id":"${resourceId}","effective_config":${config},"node_id":"`
  return { seq, occurredAt, type: 'bridge_config_updated', before, after: '"}' }
}
