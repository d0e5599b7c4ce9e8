import type { BridgeStatus, HostStatus } from './answers.ts'

/** What keeps a host from being in sync, in a few words; `in sync` where nothing does. */
export function stateOf(host: HostStatus, { fingerprint, secrets }: BridgeStatus): string {
  if (host.in_sync) return 'in sync'
  if (host.reported_at === null) return 'nothing reported yet'
  if (host.error !== null) return 'failed'
  if (host.fingerprint === null) return 'nothing applied yet'
  if (host.fingerprint !== fingerprint) return 'another configuration'
  const old = Object.entries(secrets).find(([ref, version]) => host.secrets[ref] !== version)
  if (old === undefined) return 'not in sync'
  const [ref, version] = old
  return `${nameOfSecret(ref)} at ${host.secrets[ref] ?? 'none'}, not ${version}`
}

function nameOfSecret(ref: string): string {
  return `secret ${ref.replace(/^.*\//, '')}`
}

/** How many hosts are in sync: `2 of 3 hosts are in sync`. */
export function syncText({ hosts }: BridgeStatus): string {
  const count = hosts.filter((host) => host.in_sync).length
  return `${count} of ${hosts.length} ${hosts.length === 1 ? 'host is' : 'hosts are'} in sync`
}

/** Whether the configuration runs as it is wanted: every host has it, or there is none to have. */
export function isSettled({ fingerprint, hosts }: BridgeStatus): boolean {
  return hosts.length === 0 ? fingerprint === null : hosts.every((host) => host.in_sync)
}

/** The beginning of a fingerprint, enough to compare by eye. */
export function shortFingerprint(fingerprint: string | null): string | null {
  return fingerprint === null ? null : fingerprint.slice(0, 12)
}
