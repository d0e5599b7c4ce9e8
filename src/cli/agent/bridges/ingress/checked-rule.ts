import { isSniHost, isWildcard } from '../../../../shared/bridges/sni-host.ts'
import type { WantedIngress } from '../wanted-parts.ts'
import { readAcmeAccount, type AcmeAccount } from './acme-account.ts'

/** A rule whose texts can be written into the configurations of HAProxy and Caddy. */
export interface CheckedRule {
  readonly bridgeId: string
  readonly slug: string
  /** In lower case; `*.` at its beginning stands for one label. */
  readonly host: string
  readonly nodeId: string
  readonly port: number
  /** Undefined: TLS is passed through. */
  readonly account: AcmeAccount | undefined
}

/** A rule, or why a host must refuse it. */
export type ReadRule = { readonly ok: true; readonly rule: CheckedRule } | { readonly ok: false; readonly why: string }

/** What can be in the configuration of another program without a meaning of its own there. */
const HOST = /^(?:\*\.)?[a-z0-9.-]+$/
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Checks a rule of the server again: nothing of it is escaped, and what is no plain name, port or id is refused. */
export function readRule(bridgeId: string, wanted: WantedIngress): ReadRule {
  const { slug, sni_host: host, target_node_id: nodeId, target_port: port } = wanted
  if (!UUID.test(bridgeId) || !SLUG.test(slug)) return refused('a rule has a name that is none')
  const why = placeFault(wanted)
  if (why !== undefined) return refused(`rule ${slug}: ${why}`)
  if (wanted.acme_account_ref === null)
    return { ok: true, rule: { bridgeId, slug, host, nodeId, port, account: undefined } }
  if (isWildcard(host)) return refused(`rule ${slug}: a wildcard has no certificate from ACME`)
  const account = readAcmeAccount(wanted.acme_account_ref, wanted.secret)
  if (!account.ok) return refused(`rule ${slug}: ${account.why}`)
  return { ok: true, rule: { bridgeId, slug, host, nodeId, port, account: account.account } }
}

function placeFault({ sni_host: host, target_node_id: nodeId, target_port: port }: WantedIngress): string | undefined {
  if (!HOST.test(host) || !isSniHost(host)) return 'its host name is none'
  if (!UUID.test(nodeId)) return 'its target is no node'
  return Number.isInteger(port) && port >= 1 && port <= 65_535 ? undefined : 'its port is none'
}

function refused(why: string): ReadRule {
  return { ok: false, why }
}

/** The name of the rule's backend. */
export function backendOf({ bridgeId, slug }: Pick<CheckedRule, 'bridgeId' | 'slug'>): string {
  return `${bridgeId}:${slug}`
}

/** The id of the bridge that a backend is of. */
export function bridgeOf(backend: string): string {
  return backend.split(':')[0] ?? ''
}
