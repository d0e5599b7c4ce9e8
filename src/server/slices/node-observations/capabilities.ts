import type { nodeObservations } from '../../../shared/contract/node-observations.ts'
import type { Input } from '../../../shared/contract/operation-types.ts'
import { checksumBytes } from './checksum-bytes.ts'

type Body = Input<(typeof nodeObservations)['operations']['PutNodeCapabilities']>['body']

/** A node's capabilities, in a canonical form for comparison. */
export interface Capabilities {
  readonly binary_version: string
  /** SHA-256, as all checksums here: 64 lower-case hex digits. */
  readonly binary_checksum: string
  readonly ssh_host_key_fingerprint: string | null
  /** As releases name architectures; null before the node reported one. */
  readonly architecture: string | null
  /** By name. */
  readonly hooks: readonly { readonly name: string; readonly checksum: string }[]
}

/**
 * The stored capabilities after a report. A report without a host key leaves the
 * known one unchanged: otherwise a node could hide a change of its key by omitting it once. So does one without an
 * architecture: an older agent on the same machine does not report it. Omitted hooks are removed.
 */
export function capabilitiesOf(body: Body, known: Capabilities | undefined): Capabilities {
  const hooks = (body.hooks ?? []).map(({ name, checksum }) => ({
    name,
    checksum: checksumBytes(checksum).toString('hex'),
  }))
  return {
    binary_version: body.binary_version,
    binary_checksum: checksumBytes(body.binary_checksum).toString('hex'),
    ssh_host_key_fingerprint: body.ssh_host_key_fingerprint ?? known?.ssh_host_key_fingerprint ?? null,
    architecture: body.architecture ?? known?.architecture ?? null,
    hooks: hooks.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  }
}

/** Names the members that differ, sorted; for a first report, the members that are present. */
export function fieldsChanged(known: Capabilities | undefined, next: Capabilities): string[] {
  const fields = ['architecture', 'binary_checksum', 'binary_version', 'hooks', 'ssh_host_key_fingerprint'] as const
  const before = known ?? NOTHING
  return fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(next[field]))
}

/** Whether a known host key has changed. */
export function isHostKeyChanged(known: Capabilities | undefined, next: Capabilities): boolean {
  const before = known?.ssh_host_key_fingerprint ?? null
  return before !== null && before !== next.ssh_host_key_fingerprint
}

const NOTHING = {
  architecture: null,
  binary_version: null,
  binary_checksum: null,
  ssh_host_key_fingerprint: null,
  hooks: [],
}
