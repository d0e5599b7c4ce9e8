import { caddyConfig, type Site } from './caddy-config.ts'
import { backendOf, type CheckedRule } from './checked-rule.ts'
import { claimNames, type Claims, type RulesByBridge } from './claimed-names.ts'
import { haproxyConfig, type Route } from './haproxy-config.ts'
import type { HaproxyConfig } from './haproxy.ts'
import type { IngressPlace } from './ingress-place.ts'

/** What this machine runs for the rules of all its bridges. */
export interface IngressPlan extends Claims {
  readonly haproxy: HaproxyConfig
  /** Undefined: no name has a certificate from ACME. */
  readonly caddy: string | undefined
}

/** What a plan depends on beside the rules. */
export interface PlanFacts {
  readonly place: IngressPlace
  readonly bind: string
  readonly port: number
  readonly user: string | undefined
  readonly ownAddress: string
  /** The mesh address of a node; undefined where it is no peer. */
  readonly addressOf: (nodeId: string) => string | undefined
}

/** Plans both programs. */
export function planIngress(bridges: RulesByBridge, facts: PlanFacts): IngressPlan {
  const { place, bind, port, user, ownAddress, addressOf } = facts
  const claims = claimNames(bridges)
  const sites = claims.inForce.flatMap((rule) => sitesOf(rule, addressOf))
  const routes = claims.inForce.flatMap((rule) => routesOf(rule, addressOf))
  return {
    ...claims,
    haproxy: haproxyConfig({ bind, user, routes, meshAddress: ownAddress, tlsSocket: place.tlsSocket }),
    caddy: sites.length === 0 ? undefined : caddyConfig({ place, sites, listenPort: port }),
  }
}

type AddressOf = PlanFacts['addressOf']

/** A connection for a node that is no peer now is closed. */
function routesOf(rule: CheckedRule, addressOf: AddressOf): readonly Route[] {
  const { host, account } = rule
  const [target, backend] = [targetOf(rule, addressOf), backendOf(rule)]
  if (account !== undefined) return [{ host, backend, target: undefined }]
  return target === undefined ? [] : [{ host, backend, target }]
}

/** The certificate of a site is kept up also while its node is no peer. */
function sitesOf(rule: CheckedRule, addressOf: AddressOf): readonly Site[] {
  const { host, account } = rule
  return account === undefined ? [] : [{ host, account, target: targetOf(rule, addressOf) }]
}

function targetOf({ nodeId, port }: CheckedRule, addressOf: AddressOf): Site['target'] {
  const address = addressOf(nodeId)
  return address === undefined ? undefined : { address, port }
}
