import type { CredentialSecret } from '../credential-secret.ts'
import type { ProviderName } from '../providers/index.ts'
import { aws } from './aws.ts'
import { azure } from './azure.ts'
import { gcp } from './gcp.ts'
import { hetzner } from './hetzner.ts'
import { openstack } from './openstack.ts'

/** What the secret of a credential has to be, by the provider of its Cloud. */
export const CREDENTIAL_SECRETS: { readonly [Provider in ProviderName]: CredentialSecret } = {
  aws,
  azure,
  gcp,
  hetzner,
  openstack,
}
