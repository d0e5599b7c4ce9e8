import { createHash, randomBytes } from 'node:crypto'
import { endpointOf } from './issuer-endpoints.ts'
import { StepFailure } from './step-failure.ts'
import type { TestedBinding } from './tested-binding.ts'

/** Errors by which an issuer shows that it knows the client and its redirect URI but must ask the person (OpenID Connect Core §3.1.2.6). */
const WOULD_ASK = new Set(['login_required', 'interaction_required', 'consent_required', 'account_selection_required'])

/**
 * Sends the authorization request that a browser would send, with `prompt=none`: an issuer that knows the client answers
 * with such an error; one that does not know it shows its own page instead.
 */
export async function askAuthorization(walked: TestedBinding): Promise<string> {
  const { binding, callbackUrl, issuers } = walked
  const url = new URL(endpointOf(walked, 'authorization_endpoint'))
  const request = {
    client_id: binding.clientId,
    redirect_uri: callbackUrl,
    response_type: 'code',
    scope: 'openid email profile',
    prompt: 'none',
    state: randomWord(),
    nonce: randomWord(),
    code_challenge: createHash('sha256').update(randomWord()).digest('base64url'),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(request)) url.searchParams.set(name, value)
  const headers = { accept: 'text/html' }
  const { status, headers: answered } = await issuers.fetchFor(binding)(url.href, { headers, redirect: 'manual' })
  if (status >= 400) {
    const check = `check the client id, and that ${callbackUrl} is among its redirect URIs`
    throw new StepFailure(`the authorization endpoint answers ${status}; ${check}`)
  }
  const back = arrivalAt(callbackUrl, answered.get('location'))
  if (back === undefined) return 'the issuer shows its own page; only a sign-in shows whether it knows the client'
  const error = back.get('error')
  if (error !== null && !WOULD_ASK.has(error)) throw new StepFailure(`the issuer refuses: ${refusalIn(back)}`)
  return 'the issuer knows the client and its redirect URI'
}

/** The query of a redirect to this server; undefined where it leads elsewhere. */
function arrivalAt(callbackUrl: string, location: string | null): URLSearchParams | undefined {
  if (location === null || !URL.canParse(location)) return undefined
  const { origin, pathname, searchParams } = new URL(location)
  return origin + pathname === callbackUrl ? searchParams : undefined
}

/** Redeems a code that nobody was given: the issuer looks at the client first, and refuses the code if it knows that. */
export async function askToken(walked: TestedBinding): Promise<string> {
  const { binding, callbackUrl, issuers, secret } = walked
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code: randomWord(),
    redirect_uri: callbackUrl,
    code_verifier: randomWord(),
  })
  const headers: Record<string, string> = { accept: 'application/json' }
  if (secret === undefined) form.set('client_id', binding.clientId)
  else if (takesPost(walked)) {
    form.set('client_id', binding.clientId)
    form.set('client_secret', secret)
  } else headers['authorization'] = basic(binding.clientId, secret)
  const answer = await issuers.fetchFor(binding)(endpointOf(walked, 'token_endpoint'), {
    method: 'POST',
    headers,
    body: form,
  })
  const said = errorIn(await answer.text())
  if (said.get('error') === 'invalid_client' || answer.status === 401) {
    const mend = secret === undefined ? 'give the client its secret' : 'check the client id and give the secret again'
    throw new StepFailure(`the issuer does not take the client: ${refusalIn(said)}; ${mend}`)
  }
  if (said.get('error') === 'unauthorized_client') {
    throw new StepFailure(`the client may not sign people in: ${refusalIn(said)}`)
  }
  if (answer.status >= 500) throw new StepFailure(`the token endpoint answers ${answer.status}`)
  return secret === undefined ? 'the issuer takes the client without a secret' : 'the issuer takes the client secret'
}

/** Whether the token endpoint takes the secret in the body; where the member is absent it does not (RFC 8414 §2). */
function takesPost({ metadata }: TestedBinding): boolean {
  const methods = metadata['token_endpoint_auth_methods_supported']
  return Array.isArray(methods) && methods.includes('client_secret_post')
}

/** RFC 6749 §2.3.1: both halves are form-encoded first. */
function basic(clientId: string, secret: string): string {
  const encoded = [clientId, secret].map((half) => new URLSearchParams({ '': half }).toString().slice(1))
  return `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`
}

/** The members of an OAuth error; none where the answer is something else. */
function errorIn(text: string): URLSearchParams {
  try {
    const { error = '', error_description: description = '' } = JSON.parse(text) as Record<string, unknown>
    return new URLSearchParams({ error: String(error), error_description: String(description) })
  } catch {
    return new URLSearchParams() // Not JSON: its status is all that it says.
  }
}

/** The issuer's own error text, reduced to what is safe to show. */
function refusalIn(said: URLSearchParams): string {
  const shown = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, ' ').slice(0, 200)
  const [error, description] = [said.get('error') ?? '', said.get('error_description') ?? '']
  return [shown(error) || 'no reason given', ...(description === '' ? [] : [shown(description)])].join(', ')
}

function randomWord(): string {
  return randomBytes(32).toString('base64url')
}
