import { z } from 'zod'
import { parseSecretRef, type SecretRef } from '../../../shared/bridges/secret-ref.ts'
import { isHttpsUrl } from '../../../shared/https-url.ts'
import type { AcmePlace } from '../../ports/acme-directories.ts'
import type { ProjectSecrets } from '../../ports/project-secrets.ts'
import { unreachable } from './unreachable.ts'

const Base64Url = z.string().regex(/^[A-Za-z0-9_-]+$/)

/** The value of a secret that names an account of a directory. The binding of an external account is two members (RFC 8555 §7.3.4). */
const Account = z
  .object({
    directory_url: z.string().max(2048).refine(isHttpsUrl),
    eab_kid: z.string().min(1).optional(),
    eab_hmac_key: Base64Url.optional(),
  })
  .refine(({ eab_kid: kid, eab_hmac_key: key }) => (kid === undefined) === (key === undefined))

/**
 * Finds the URL of the directory that a rule names.
 *
 * @throws Problem `acme_directory_unreachable` where there is none, `secret_store_unavailable`.
 */
export async function directoryUrlOf(secrets: ProjectSecrets, ref: string, place: AcmePlace): Promise<URL> {
  const named = parseSecretRef(ref)
  if (named !== undefined) return new URL(await urlInSecret(secrets, named, place))
  if (!isHttpsUrl(ref)) throw unreachable('The directory is neither an https URL nor a reference to a secret.')
  return new URL(ref)
}

async function urlInSecret(secrets: ProjectSecrets, named: SecretRef, place: AcmePlace): Promise<string> {
  const isOwn = named.domain === place.domainSlug && named.project === place.projectSlug
  if (!isOwn) throw unreachable('The reference names a secret of another Project.')
  const found = await secrets.read({ projectId: place.projectId, name: named.name, version: named.version })
  if (found === undefined) throw unreachable('The secret that is named, or its version, does not exist.')
  const account = accountIn(found.value)
  found.value.fill(0)
  if (account === undefined)
    throw unreachable(
      'The secret is not a JSON object with directory_url, an https URL, and perhaps both eab_kid and eab_hmac_key.',
    )
  return account.directory_url
}

function accountIn(value: Buffer): z.infer<typeof Account> | undefined {
  try {
    return Account.safeParse(JSON.parse(value.toString('utf8'))).data
  } catch {
    return undefined
  }
}
