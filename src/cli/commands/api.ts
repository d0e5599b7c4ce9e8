import { ProblemAnswer } from '../../client/failures.ts'
import { pages, type Page } from '../../client/pages.ts'
import { answeredValue, isJson, isStream, parsedJson, refusalOf } from '../../client/client.ts'
import { foreignServer, namesItself } from '../../client/foreign-server.ts'
import { asFailure, readToEnd, type HttpAnswer, type HttpRequest, type OpenAnswer } from '../../client/transport.ts'
import type { Manifest, ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { printCurl } from '../output/curl.ts'
import { usageError } from '../errors/cli-error.ts'
import { defineCommand, type Given } from '../argv/command.ts'
import { bodyFromFile } from '../derive/values.ts'
import { EXIT, type ExitCode } from '../errors/exit-code.ts'
import type { FlagSpecs } from '../argv/flags.ts'
import { rowsOf } from '../output/members.ts'
import { isScreen } from '../output/screen.ts'
import type { Session } from '../session/session.ts'
import { harmless } from '../output/style.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const

const FLAGS = {
  field: {
    kind: 'many',
    short: 'F',
    value: 'KEY=VALUE',
    describe: 'Member of the JSON body, typed: true, 7, null, [..], else text',
  },
  'raw-field': { kind: 'many', value: 'KEY=VALUE', describe: 'Member of the JSON body, always text' },
  'from-file': { kind: 'text', short: 'f', value: 'FILE', describe: 'Body from a JSON or YAML file, - for stdin' },
  header: { kind: 'many', short: 'H', value: 'NAME:VALUE', describe: 'Further request header' },
  include: { kind: 'switch', short: 'i', describe: 'Print status and headers of the answer first' },
  paginate: { kind: 'switch', describe: 'Follow next_cursor and print all rows as one list' },
} as const satisfies FlagSpecs

export const api = defineCommand({
  description:
    'The path may leave out /v1. GET unless a body is given, then POST. The answer is printed as it is, a stream as it comes; a status of 400 or more gives its usual exit code.',
  args: [
    { name: 'method', describe: `Method: ${METHODS.join(', ')}`, required: false, choices: METHODS },
    { name: 'path', describe: 'Path, with its query', required: false },
  ],
  flags: FLAGS,
  uses: ['connection', 'curl', 'output', 'watch'],
  examples: [
    'ctl api /nodes',
    "ctl api '/v1/nodes?reachability=stale' --jq '.items[].display_name'",
    'ctl api POST /authz/check -F subject=user:… -F relation=read -F resource=project:…',
    'ctl api PATCH /nodes/… -F name=web-2',
  ],
  async run(session, given) {
    const typed = await requestFrom(session, given)
    const operation = operationAt(session.manifest(), typed)
    const streams = operation !== undefined && isStream(operation)
    const request = streams ? { ...typed, headers: { accept: EVENT_STREAM, ...typed.headers } } : typed
    if (session.shared.curl === true) return printCurl(session, [request], { streams })
    if (given.flags.paginate === true) return printAll(session, request)
    const isWithHeaders = given.flags.include === true
    if (streams) return printStream(session, request, isWithHeaders)
    const answer = await sent(session, request)
    assertOfThisApi(answer, operation)
    return printAnswer(session, answer, isWithHeaders)
  },
})

async function requestFrom(session: Session, { args, flags }: Given<typeof FLAGS>): Promise<HttpRequest> {
  const [path, asked] = args.length > 1 ? [args[1], args[0]?.toUpperCase()] : [args[0], undefined]
  if (path === undefined) throw usageError('<path> is missing', 'For example: ctl api /nodes')
  const method = METHODS.find((one) => one === asked)
  if (asked !== undefined && method === undefined)
    throw usageError(`"${asked}" is no method`, `Methods are ${METHODS.join(', ')}.`)
  const body = await bodyOf(session, flags)
  return {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    path: fullPath(path),
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headersOf(flags.header ?? []) },
    body,
  }
}

/** Only paths: a whole URL could name another server, which must not see the credential. */
function fullPath(path: string): string {
  if (path.includes('://')) throw usageError('give a path, not a URL', 'Choose the server with --url or --context.')
  const rooted = path.startsWith('/') ? path : `/${path}`
  return /^\/(v\d+|livez|readyz|problems|\.well-known)(\/|\?|$)/.test(rooted) ? rooted : `/v1${rooted}`
}

async function bodyOf(session: Session, flags: Given<typeof FLAGS>['flags']): Promise<string | undefined> {
  const file = flags['from-file']
  const from = file === undefined ? undefined : await bodyFromFile(file, { io: session.io, isSecret: true })
  const typed = (flags.field ?? [])
    .map((pair) => split(pair, '='))
    .map(([key, text]) => [key, typedValue(text)] as const)
  const raw = (flags['raw-field'] ?? []).map((pair) => split(pair, '='))
  if (from === undefined && typed.length === 0 && raw.length === 0) return undefined
  return JSON.stringify({ ...from, ...Object.fromEntries([...typed, ...raw]) })
}

function typedValue(text: string): unknown {
  if (!/^(true|false|null|-?\d+(\.\d+)?|[[{"].*)$/s.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text // Looks like JSON and is not: then it is text.
  }
}

function headersOf(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => split(pair, ':')).map(([name, value]) => [name.toLowerCase(), value.trim()]),
  )
}

function split(pair: string, sign: string): readonly [string, string] {
  const at = pair.indexOf(sign)
  if (at < 1) throw usageError(`"${pair}" needs the form name${sign}value`)
  return [pair.slice(0, at), pair.slice(at + 1)]
}

async function sent(session: Session, request: HttpRequest): Promise<HttpAnswer> {
  const repeatable = ['GET', 'HEAD', 'PUT', 'DELETE'].includes(request.method)
  return (await session.caller()).send(request, { repeatable })
}

/** The operation that a request is of; undefined for paths that this ctl does not know. */
function operationAt({ index, operations }: Manifest, { method, path }: HttpRequest): ManifestOperation | undefined {
  const [called = ''] = path.split('?')
  const matches = (template: string): boolean =>
    new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(called)
  const [id = ''] = Object.entries(index).find(([, one]) => one.method === method && matches(one.path)) ?? []
  return operations[id]
}

/** Throws where another server has answered: what it says must not be taken for an answer of the API. */
function assertOfThisApi(answer: HttpAnswer, operation: ManifestOperation | undefined): void {
  if (namesItself(answer)) return
  if (answer.status >= 400) {
    const refusal = refusalOf(answer)
    if (!(refusal instanceof ProblemAnswer)) throw refusal
  } else if (operation !== undefined) answeredValue(operation, answer)
  else if (answer.status >= 300 || !isJson(answer)) throw foreignServer(answer)
}

const EVENT_STREAM = 'text/event-stream'

/** Prints as it comes, to the end or to Ctrl-C. */
async function printStream(session: Session, request: HttpRequest, isWithHeaders: boolean): Promise<ExitCode> {
  const { interrupted: signal, stdout } = session.io
  const answer = await (await session.caller()).open(request, { signal })
  if (answer.status >= 400) {
    const { timeoutSeconds } = await session.settings()
    const whole = await readToEnd(answer, timeoutSeconds.value * 1000)
    assertOfThisApi(whole, undefined)
    await printAnswer(session, whole, isWithHeaders)
  }
  if (!namesItself(answer) && answer.headers['content-type']?.startsWith(EVENT_STREAM) !== true) {
    answer.body.destroy()
    throw foreignServer(answer)
  }
  if (isWithHeaders) printHead(session, answer)
  try {
    for await (const text of answer.body.setEncoding('utf8')) stdout.write(String(text))
  } catch (error) {
    if (!signal.aborted) throw asFailure(error)
  }
  return signal.aborted ? EXIT.interrupted : EXIT.ok
}

function printHead({ io }: Session, { status, headers }: Pick<OpenAnswer, 'status' | 'headers'>): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${harmless(value)}\n`)
  io.stdout.write(`HTTP ${status}\n${lines.join('')}\n`)
}

async function printAnswer(session: Session, answer: HttpAnswer, isWithHeaders: boolean): Promise<void> {
  if (isWithHeaders) printHead(session, answer)
  const text = answer.body.toString('utf8')
  if (isJson(answer) && text !== '') await printJson(session, parsedJson(answer))
  else if (text !== '') session.io.stdout.write(text)
  if (answer.status >= 400) throw refusalOf(answer)
}

/** JSON unless another format was asked for: that is what the path was called for. */
async function printJson(session: Session, value: unknown): Promise<void> {
  const { output } = await session.settings()
  const isChosen = output.origin !== 'default' || !(await isScreen(session))
  if (isChosen) return session.emit(value, { columns: [] })
  session.io.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

async function printAll(session: Session, request: HttpRequest): Promise<void> {
  const items: unknown[] = []
  const page = async ({ cursor }: { cursor?: string }): Promise<Page<unknown>> => {
    const separator = request.path.includes('?') ? '&' : '?'
    const path = cursor === undefined ? request.path : `${request.path}${separator}cursor=${encodeURIComponent(cursor)}`
    const answer = await sent(session, { ...request, path })
    if (answer.status >= 400) throw refusalOf(answer)
    assertOfThisApi(answer, operationAt(session.manifest(), request))
    const value = parsedJson(answer) as Page<unknown>
    if (rowsOf(value) === undefined) throw usageError('--paginate goes with lists only')
    return Array.isArray(value) ? { items: value } : value
  }
  for await (const { items: more } of pages(page, {})) items.push(...more)
  await printJson(session, { items, next_cursor: null })
}
