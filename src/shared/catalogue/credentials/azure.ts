import { z } from 'zod'
import { SecretText, type CredentialSecret } from '../credential-secret.ts'
import { ProviderUuid } from '../provider.ts'

/** Microsoft Azure: the client of an app registration. */
export const azure: CredentialSecret = {
  schema: z.strictObject({ client_id: ProviderUuid, client_secret: SecretText }),
  rule: 'must have client_id, which is a UUID, and client_secret, and nothing else',
}
