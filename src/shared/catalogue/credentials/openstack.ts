import { z } from 'zod'
import { SecretText, type CredentialSecret } from '../credential-secret.ts'

/** OpenStack: an application credential. */
export const openstack: CredentialSecret = {
  schema: z.strictObject({ application_credential_id: SecretText, application_credential_secret: SecretText }),
  rule: 'must have application_credential_id and application_credential_secret, and nothing else',
}
