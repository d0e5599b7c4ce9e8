import { isHttpsUrl } from '../../../shared/https-url.ts'
import { isAllowedHost } from '../../../shared/networks/allowed-host.ts'
import { problem } from '../../../shared/problems.ts'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Which endpoints may be in a private network, and may use plain http. */
export interface EndpointRules {
  isPrivateAllowed(url: URL): boolean
}

export interface EndpointRulesDeps {
  /** `host` or `host:port` in lower case. */
  readonly webhookAllowHosts: readonly string[]
  /** Whether endpoints on this machine are allowed: a server for development. */
  readonly allowsLoopback: boolean
}

export function createEndpointRules({ webhookAllowHosts, allowsLoopback }: EndpointRulesDeps): EndpointRules {
  const allowed = new Set(webhookAllowHosts)
  return {
    isPrivateAllowed: (url) => isAllowedHost(url, allowed) || (allowsLoopback && LOOPBACK.has(url.hostname)),
  }
}

/**
 * Asserts that messages may be sent to the address, as far as its text shows.
 * @throws Problem `invalid_webhook_url`
 */
export function requireUrl(text: string, rules: EndpointRules): void {
  if (isHttpsUrl(text)) return
  // The same rules, but for the scheme.
  if (/^http:/i.test(text) && isHttpsUrl(text.replace(/^http:/i, 'https:')) && rules.isPrivateAllowed(new URL(text)))
    return
  throw problem('invalid_webhook_url', { errors: [{ pointer: '/url', detail: 'must be an https URL' }] })
}
