import { z } from 'zod'
import { SecretText, type CredentialSecret } from '../credential-secret.ts'

/** Google Cloud: the key file of a service account. Members of it that are not known pass unchanged. */
export const gcp: CredentialSecret = {
  schema: z.strictObject({
    service_account_key: z.looseObject({ client_email: SecretText, private_key: SecretText }),
  }),
  rule: 'must have service_account_key, an object with client_email and private_key, and nothing else',
}
