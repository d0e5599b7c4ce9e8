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

/** A URI is ASCII (RFC 3986 §2): names in other scripts are written in Punycode, other text with percent signs. */
const URI_TEXT = /^[\x21-\x7e]+$/

/**
 * Asserts that messages may be sent to the address, as far as its text shows.
 * @throws Problem `invalid_webhook_url`
 */
export function requireUrl(text: string, rules: EndpointRules): void {
  if (URI_TEXT.test(text) && (isHttpsUrl(text) || isAllowedHttp(text, rules))) return
  throw problem('invalid_webhook_url', {
    errors: [{ pointer: '/url', detail: 'must be an https URL of ASCII characters' }],
  })
}

/** The same rules as for https, but for the scheme. */
function isAllowedHttp(text: string, rules: EndpointRules): boolean {
  if (!/^http:/i.test(text)) return false
  return isHttpsUrl(text.replace(/^http:/i, 'https:')) && rules.isPrivateAllowed(new URL(text))
}
