import { canonicalize } from '../../../shared/canonical-json.ts'
import { formatPskIssuedAt } from '../../../shared/mesh/psk-instant.ts'

/** The stored blocks of a node's own state: itself, its tasks and its reports; each list in its display order. */
export interface OwnBlocks {
  readonly self: OwnSelf
  /** Those in force whose selector the node's labels satisfy. `rules` is canonical JSON. */
  readonly policies: readonly {
    readonly policyId: string
    readonly revisionId: string
    readonly fingerprint: string
    readonly rules: string
  }[]
  /** Of the bridge resources that the node hosts. `config` is canonical JSON. */
  readonly bridges: readonly { readonly resourceId: string; readonly config: string }[]
  /** `value` is canonical JSON. */
  readonly reports: readonly { readonly key: string; readonly value: string }[]
  /** Those not ended. */
  readonly executions: readonly OwnExecution[]
  /** Those live. */
  readonly sessions: readonly OwnSession[]
}

/** What a node is in its Domain. */
export interface OwnSelf {
  /** A slug. */
  readonly name: string
  readonly meshAddress: string
  readonly meshCidr: string
  readonly pskIssuedAtNs: bigint
}

export interface OwnExecution {
  readonly id: string
  readonly action: string
  readonly type: string
  /** Canonical JSON. */
  readonly parameters: string | null
  readonly status: string
  readonly requestedAtMs: number
  readonly expiresAtMs: number
}

export interface OwnSession {
  readonly id: string
  readonly kind: string
  readonly target: string
  readonly expiresAtMs: number
  readonly idleTimeoutSeconds: number | null
}

/** A node's own part of its state, rendered, with the revision at which it was read. */
export interface OwnState {
  readonly domainId: string
  readonly nodeRevision: number
  /** The document up to the start of the peers. */
  readonly head: Uint8Array
  /** The document from the end of the peers. */
  readonly tail: Uint8Array
}

/** The text before the peers of a node without bridges and executions. Most nodes share it. */
const EMPTY_HEAD = headOf({ bridges: [], executions: [] })

/** Renders the text before and after the peers, in the order of RFC 8785. Canonical texts are inserted as they are. */
export function renderOwn(blocks: OwnBlocks): Pick<OwnState, 'head' | 'tail'> {
  const isEmpty = blocks.bridges.length + blocks.executions.length === 0
  return { head: isEmpty ? EMPTY_HEAD : headOf(blocks), tail: tailOf(blocks) }
}

function headOf({ bridges, executions }: Pick<OwnBlocks, 'bridges' | 'executions'>): Uint8Array {
  const members = [
    `{"bridge":{"resources":[${bridges.map(bridgeText).join(',')}]}`,
    `"executions":[${executions.map(executionText).join(',')}]`,
    '"peers":[',
  ]
  return Buffer.from(members.join(','))
}

function tailOf({ policies, self, sessions, reports }: OwnBlocks): Uint8Array {
  const members = [
    `]`,
    `"policy":{"policies":[${policies.map(policyText).join(',')}]}`,
    `"self":${selfText(self)}`,
    `"sessions":[${sessions.map(sessionText).join(',')}]`,
    `"state/reports":{${reports.map(reportText).join(',')}}}`,
  ]
  return Buffer.from(members.join(','))
}

function selfText({ name, meshAddress, meshCidr, pskIssuedAtNs }: OwnSelf): string {
  const place = `"mesh_address":"${meshAddress}","mesh_cidr":"${meshCidr}"`
  return `{${place},"name":"${name}","psk_issued_at":"${formatPskIssuedAt(pskIssuedAtNs)}"}`
}

function policyText({ policyId, revisionId, fingerprint, rules }: OwnBlocks['policies'][number]): string {
  return `{"fingerprint":"${fingerprint}","policy_id":"${policyId}","revision_id":"${revisionId}","rules":${rules}}`
}

function bridgeText({ resourceId, config }: OwnBlocks['bridges'][number]): string {
  return `{"bridge_resource_id":"${resourceId}","effective_config":${config}}`
}

function reportText({ key, value }: OwnBlocks['reports'][number]): string {
  return `${canonicalize(key)}:${value}`
}

function executionText(execution: OwnExecution): string {
  const { id, action, type, parameters, status } = execution
  const members = [
    `"action":${canonicalize(action)}`,
    `"execution_id":"${id}"`,
    `"expires_at":"${instant(execution.expiresAtMs)}"`,
    ...(parameters === null ? [] : [`"parameters":${parameters}`]),
    `"requested_at":"${instant(execution.requestedAtMs)}"`,
    `"status":"${status}"`,
    `"type":"${type}"`,
  ]
  return `{${members.join(',')}}`
}

function sessionText({ id, kind, target, expiresAtMs, idleTimeoutSeconds }: OwnSession): string {
  const idle = idleTimeoutSeconds === null ? '' : `"idle_timeout_seconds":${idleTimeoutSeconds},`
  const ids = `"jti":"${id}","kind":"${kind}","session_id":"${id}"`
  return `{"expires_at":"${instant(expiresAtMs)}",${idle}${ids},"target":${canonicalize(target)}}`
}

function instant(ms: number): string {
  return new Date(ms).toISOString()
}
