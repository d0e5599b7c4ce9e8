import { deviceFlow } from '../../../shared/contract/device-flow.ts'
import { meta } from '../../../shared/contract/meta.ts'
import {
  CLIENT_CREDENTIALS_GRANT,
  DEVICE_GRANT,
  JWT_BEARER_GRANT,
  OAUTH_METADATA_PATH,
} from '../../../shared/contract/oauth-schemas.ts'
import { serviceToken } from '../../../shared/contract/service-token.ts'
import type { Page } from '../../http/pages/pages.ts'
import { ASSERTION_ALGORITHMS } from './public-key.ts'

/** It changes with the version of the server and its base URL alone. */
const MAX_AGE_SECONDS = 3600

export interface MetadataDeps {
  /** URL under which the server is reached, without a slash at its end. */
  readonly baseUrl: string
  /** Every scope that a token may have. */
  readonly scopes: readonly string[]
}

/**
 * Serves authorization server metadata (RFC 8414), from which a client library learns the endpoints. There is no
 * `jwks_uri`, since tokens are opaque, and no `authorization_endpoint`, since no grant uses one.
 */
export function createAuthorizationServerMetadata(deps: MetadataDeps): Page {
  const answer = { json: JSON.stringify(metadataOf(deps)), maxAgeSeconds: MAX_AGE_SECONDS }
  return { method: 'GET', path: OAUTH_METADATA_PATH, handler: () => answer }
}

function metadataOf({ baseUrl, scopes }: MetadataDeps): object {
  const at = (path: string): string => `${baseUrl}${path}`
  return {
    issuer: baseUrl,
    token_endpoint: at(serviceToken.operations.PostAuthServiceToken.path),
    device_authorization_endpoint: at(deviceFlow.operations.PostAuthDeviceCode.path),
    grant_types_supported: [DEVICE_GRANT, CLIENT_CREDENTIALS_GRANT, JWT_BEARER_GRANT],
    // Required by RFC 8414 §2; empty, since there is no authorization endpoint.
    response_types_supported: [],
    token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    scopes_supported: scopes,
    service_documentation: at(meta.operations.GetDocs.path),
  }
}
