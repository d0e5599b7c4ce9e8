import { invalid, row, unavailable } from './row.ts'

/** Problems of the secret store, the secrets of Projects and the credentials of Clouds. */
export const CREDENTIALS_PROBLEMS = {
  secret_store_unavailable: unavailable(
    'Secret store unavailable',
    'The secret store cannot be used right now; retry shortly.',
  ),
  secret_write_in_progress: row(
    409,
    'Secret being written',
    'Another write or deletion of the same secret is under way or came first; look at it and retry, after at most two minutes.',
  ),
  invalid_secret: invalid(
    'Invalid secret',
    'A value is text of 1 to 65,536 bytes in UTF-8; a name is lower-case letters, digits and inner hyphens, at most 63.',
  ),
  secret_not_found: row(404, 'Secret not found', 'The Project has no such secret, or the secret no such version.'),
  secret_in_use: row<{ readonly users: readonly string[] }>(
    409,
    'Secret in use',
    'Objects still use the secret; the users name them.',
  ),
  secret_versions_exhausted: row(
    409,
    'Too many versions',
    'The secret has as many versions as are allowed; delete old ones first.',
  ),
  invalid_cloud_credential: invalid(
    'Invalid cloud credential',
    'The credential, or its secret, does not have the shape that the provider of its Cloud asks for.',
  ),
  invalid_cloud_credential_id: invalid(
    'Invalid cloud credential id',
    'The cloud credential id must be a UUID other than zero.',
  ),
  cloud_credential_not_found: row(404, 'Cloud credential not found', 'No such cloud credential exists.'),
  cloud_credential_in_use: row(
    409,
    'Cloud credential in use',
    'A Project has the cloud credential or has requested it; revoke the credential or its assignments first.',
  ),
} as const
