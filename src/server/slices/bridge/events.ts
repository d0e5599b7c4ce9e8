import { toHosts } from '../../ports/outbox-events.ts'

/** Outbox events of the parts of bridges (S1 Events). That of the relay is shared: it announces changed hosts too. */
export const events = {
  'bridge.UserAccessProviderConfigured': toHosts(),
  'bridge.UserAccessProviderRemoved': toHosts(),
  'bridge.PublicIngressRuleConfigured': toHosts(),
  'bridge.PublicIngressRuleRemoved': toHosts(),
  'bridge.SiteToSiteTunnelConfigured': toHosts(),
  'bridge.SiteToSiteTunnelRemoved': toHosts(),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}
