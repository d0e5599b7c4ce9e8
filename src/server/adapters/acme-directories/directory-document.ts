import { isHttpsUrl } from '../../../shared/https-url.ts'
import { unreachable } from './unreachable.ts'

/** What a client needs before it can ask for a certificate (RFC 8555 §7.1.1). */
const RESOURCES = ['newNonce', 'newAccount', 'newOrder'] as const

/**
 * Asserts that the answer is a directory of ACME. Nothing of the answer is repeated.
 *
 * @throws Problem `acme_directory_unreachable`
 */
export function assertDirectory({ status, body }: { readonly status: number; readonly body: Buffer }): void {
  if (status !== 200) throw unreachable(`The directory answers with status ${status}.`)
  const document = jsonIn(body)
  const missing = RESOURCES.find((name) => !isUrl(document[name]))
  if (missing !== undefined) throw unreachable(`The directory has no ${missing} that is an absolute https URL.`)
}

function isUrl(value: unknown): boolean {
  return typeof value === 'string' && isHttpsUrl(value)
}

function jsonIn(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const document: unknown = JSON.parse(body.toString('utf8'))
    if (typeof document === 'object' && document !== null && !Array.isArray(document)) return { ...document }
  } catch {
    // The error of JSON repeats a part of the text.
    throw unreachable('The directory does not answer with JSON.')
  }
  throw unreachable('The directory does not answer with a JSON object.')
}
