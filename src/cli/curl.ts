import { redactBody } from './secrets.ts'

/** The curl command that makes the same call; the token stays in the environment. */
export function curlCommand(
  url: string,
  request: { readonly method: string; readonly path: string; readonly body?: string | Uint8Array | undefined },
): string {
  const target = url.startsWith('unix:')
    ? ['--unix-socket', quoted(url.slice('unix:'.length)), quoted(`http://localhost${request.path}`)]
    : [quoted(url + request.path)]
  const body =
    request.body === undefined
      ? []
      : ['-H', quoted('Content-Type: application/json'), '--data', quoted(redactBody(String(request.body)))]
  return ['curl', '-sS', '-X', request.method, ...target, '-H', '"Authorization: Bearer $CTL_TOKEN"', ...body].join(' ')
}

/** A word for a POSIX shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
