import type { HttpRequest } from '../../client/transport.ts'
import { redactBody, redactHeaders } from '../session/secrets.ts'
import type { Session } from '../session/session.ts'

/** What a curl command needs to know beside the request. */
interface CurlTarget {
  readonly url: string
  readonly caFile?: string | undefined
  /** Where a limit was asked for. */
  readonly timeoutSeconds?: number | undefined
  /** The answer goes on until one side ends it. */
  readonly streams?: boolean | undefined
  /** Members of the body that hold secrets. */
  readonly secretMembers?: readonly string[] | undefined
}

/** Prints the curl commands that send these requests exactly as this command would; secrets stay out of them. */
export async function printCurl(
  session: Session,
  requests: readonly HttpRequest[],
  { streams, secretMembers }: Pick<CurlTarget, 'streams' | 'secretMembers'> = {},
): Promise<void> {
  const [caller, { url, caFile, timeoutSeconds }] = await Promise.all([session.caller(), session.settings()])
  const target: CurlTarget = {
    url: url.value,
    caFile: caFile.value,
    timeoutSeconds: timeoutSeconds.origin === 'default' ? undefined : timeoutSeconds.value,
    streams,
    secretMembers,
  }
  for (const request of requests)
    session.io.stdout.write(`${curlCommand(target, withoutMintedId(await caller.prepare(request), request))}\n`)
}

/** Each call gets a correlation id of its own: one in the printed command would be that of every run of it. */
function withoutMintedId(prepared: HttpRequest, { headers }: HttpRequest): HttpRequest {
  const { [CORRELATION_ID]: _, ...others } = prepared.headers
  return headers[CORRELATION_ID] === undefined ? { ...prepared, headers: others } : prepared
}

const CORRELATION_ID = 'x-correlation-id'

/** The curl command that makes the same call; the token stays in the environment. */
export function curlCommand(target: CurlTarget, { method, path, headers, body }: HttpRequest): string {
  const { url, caFile, timeoutSeconds, streams, secretMembers } = target
  return [
    'curl -sS',
    ...(streams === true ? ['-N'] : []),
    method === 'HEAD' ? '--head' : `-X ${method}`,
    ...(caFile === undefined ? [] : [`--cacert ${quoted(caFile)}`]),
    // The limit of a stream is for its beginning; that of curl would end it.
    ...(timeoutSeconds === undefined || streams === true ? [] : [`--max-time ${timeoutSeconds}`]),
    ...addressWords(url, path),
    ...Object.entries(headers).flatMap(headerWords),
    ...(body === undefined ? [] : [`--data-raw ${quoted(redactBody(String(body), secretMembers))}`]),
  ].join(' ')
}

function addressWords(url: string, path: string): readonly string[] {
  // Brackets and braces are patterns of several addresses to curl.
  const plain = /[[\]{}]/.test(path) || /[[\]]/.test(url) ? ['-g'] : []
  if (!url.startsWith('unix:')) return [...plain, quoted(url + path)]
  return [...plain, `--unix-socket ${quoted(url.slice('unix:'.length))}`, quoted(`http://localhost${path}`)]
}

function headerWords([name, value]: readonly [string, string]): readonly string[] {
  const title = name.replaceAll(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase())
  if (name === 'authorization' && value.startsWith('Bearer ')) return [`-H "Authorization: Bearer $CTL_TOKEN"`]
  const shown = redactHeaders({ [name]: value })[name] ?? ''
  // curl leaves out a header with nothing after the colon.
  return [`-H ${quoted(shown === '' ? `${title};` : `${title}: ${shown}`)}`]
}

/** A word for a POSIX shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
