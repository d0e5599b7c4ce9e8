/** Path and query members by name, and the body as `body`. */
export type Members = Readonly<Record<string, unknown>>

/** The request of a call. */
export interface SentRequest {
  readonly url: string
  readonly init: {
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
    readonly credentials: 'same-origin'
    readonly cache: 'no-store'
  }
}

/**
 * Lays the members of a call out in path, query and body. A change carries the anti-forgery token of the session besides, which
 * operations that want one compare.
 */
export function requestOf(
  { method, path }: { readonly method: string; readonly path: string },
  { body, ...members }: Members,
  cookies: string,
): SentRequest {
  const names = new Set(Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name))
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(textOf(members[name])))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(members)) {
    if (!names.has(name) && value !== undefined && value !== '') query.set(name, textOf(value))
  }
  const headers = {
    accept: 'application/json',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(method !== 'GET' && csrfHeader(cookies)),
  }
  return {
    url: query.size === 0 ? filled : `${filled}?${query.toString()}`,
    init: {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      credentials: 'same-origin',
      cache: 'no-store',
    },
  }
}

function csrfHeader(cookies: string): Readonly<Record<string, string>> {
  const pair = cookies.split('; ').find((each) => each.startsWith('service_csrf='))
  return pair === undefined ? {} : { 'x-csrf-token': pair.slice('service_csrf='.length) }
}

/** Members of paths and queries are texts, numbers and flags; anything else is a fault of the console. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new TypeError('a member of a path or a query is neither text nor number')
}
