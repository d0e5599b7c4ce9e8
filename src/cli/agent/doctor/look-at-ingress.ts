import { ok, skipped, warning, type Finding } from '../../commands/doctor/finding.ts'
import type { IngressRow } from '../bridges/ingress/ingress-rows.ts'
import type { RunningFacts } from './doctor-facts.ts'

/** Whether the ingress rules in force have what they need. Those that are refused are a fault of the agent. */
export function lookAtIngress({ status }: { readonly status: Pick<RunningFacts['status'], 'ingress'> }): Finding {
  const { listen, rules } = status.ingress
  if (rules.length === 0) return skipped('ingress', 'this node serves no ingress rule')
  const count = rules.length === 1 ? '1 name' : `${rules.length} names`
  return targets(rules) ?? certificates(rules) ?? ok('ingress', `${count} on ${listen}`)
}

function targets(rules: readonly IngressRow[]): Finding | undefined {
  const lost = rules.filter(({ target }) => target === null)
  if (lost.length === 0) return undefined
  return warning(
    'ingress',
    `no peer is the target of ${hostsOf(lost)}`,
    'See ctl agent peers, and the target of the rule.',
  )
}

function certificates(rules: readonly IngressRow[]): Finding | undefined {
  const bare = rules.filter(({ way, certificate_until: until }) => way === 'acme' && !isInForce(until))
  if (bare.length === 0) return undefined
  return warning(
    'ingress',
    `there is no valid certificate for ${hostsOf(bare)}`,
    'The name must lead to this host, and TCP 443 to its ingress: the log of caddy is in /run/ctl-ingress.',
  )
}

function isInForce(until: string | null): boolean {
  return until !== null && Date.parse(until) > Date.now()
}

/** Names that are listed before the others are counted. */
const NAMED = 5

function hostsOf(rules: readonly IngressRow[]): string {
  const names = rules.slice(0, NAMED).map(({ host }) => host)
  return `${names.join(', ')}${rules.length > NAMED ? ` and ${rules.length - NAMED} more` : ''}`
}
