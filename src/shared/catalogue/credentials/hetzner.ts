import { z } from 'zod'
import { SecretText, type CredentialSecret } from '../credential-secret.ts'

/** Hetzner: a token of the API. */
export const hetzner: CredentialSecret = {
  schema: z.strictObject({ token: SecretText }),
  rule: 'must have token, and nothing else',
}
