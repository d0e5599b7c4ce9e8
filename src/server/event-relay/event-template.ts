import type { WireType } from '../../shared/events/wire-types.ts'

/**
 * An event before it is known for which node: the node's id stands between `before` and `after`, where there is an
 * `after`. Bytes that are stored once, as rules are, are in it as they are, and the datastore copies them per node.
 */
export interface Template {
  /** The outbox row that it tells of. */
  readonly seq: bigint
  readonly type: WireType
  readonly occurredAt: Date
  readonly before: string
  readonly after: string | undefined
}

/** An event for one node. Of one node, events are told in the order of their outbox rows. */
export interface Told {
  readonly nodeId: string
  readonly template: Template
}

/** The canonical JSON of no rules, and of no configuration: what the end of a policy or of a bridge is told by. */
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

/** The policy is no longer for the node; the revision is the last one that was (S0 PolicyUpdatedPayload). */
export function endOfPolicy(event: Event, last: Pick<StoredRules, 'policyId' | 'revisionId'>): Template {
  return policyTemplate(event, { ...last, fingerprint: NO_RULES_FINGERPRINT, rules: NO_RULES })
}

/** S0 BridgeConfigUpdatedPayload, members in canonical order. `config`: canonical JSON; undefined where the bridge is gone. */
export function bridgeTemplate({ seq, occurredAt }: Event, resourceId: string, config = NO_CONFIG): Template {
  const before = `{"bridge_resource_id":"${resourceId}","effective_config":${config},"node_id":"`
  return { seq, occurredAt, type: 'bridge_config_updated', before, after: '"}' }
}
