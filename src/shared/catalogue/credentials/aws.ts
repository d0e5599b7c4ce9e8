import { z } from 'zod'
import { SecretText, type CredentialSecret } from '../credential-secret.ts'

/** Amazon Web Services: an access key, or a role to assume. */
export const aws: CredentialSecret = {
  schema: z.union([
    z.strictObject({ access_key_id: SecretText, secret_access_key: SecretText }),
    z.strictObject({
      role_arn: z.string().regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/),
      external_id: SecretText.optional(),
    }),
  ]),
  rule: 'must have access_key_id and secret_access_key, or role_arn and perhaps external_id, and nothing else',
}
