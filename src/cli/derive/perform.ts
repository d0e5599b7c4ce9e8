import { requestOf, type Reply } from '../../client/client.ts'
import type { Page } from '../../client/pages.ts'
import type { HttpRequest } from '../../client/transport.ts'
import type { ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Given } from '../argv/command.ts'
import { EXIT, type ExitCode } from '../errors/exit-code.ts'
import { memberOf, nameOf } from '../output/members.ts'
import type { Expected, View } from '../output/emit.ts'
import { SELECTOR } from '../argv/selector.ts'
import { secretMembersOf } from '../session/secrets.ts'
import type { Session } from '../session/session.ts'
import { harmless } from '../output/style.ts'
import { singular } from '../argv/tree.ts'
import type { Existing } from './existing.ts'
import { IF_NOT_EXISTS } from './if-not-exists.ts'
import { membersOf } from './members.ts'
import type { Plan, Target } from './plan.ts'

/** Runs an operation as a command: resolves, asks, calls, prints, and says what was done. Loads what it needs of that. */
export async function perform(session: Session, plan: Plan, given: Given): Promise<ExitCode | void> {
  const { operation } = plan
  if (session.shared.curl === true) return printCalls(session, plan, await targetsFor(session, plan, given))
  if (operation.access === 'write') await (await import('./confirm.ts')).assertAnswerable(session, operation)
  const targets = await targetsFor(session, plan, given)
  if (targets.length === 0) return plan.failures?.exitCode
  if (operation.access === 'write') await assertChangeable(session, plan, targets)
  if (operation.paging) return performList(session, operation, targets)
  const isRepeatable = given.flags[IF_NOT_EXISTS] === true
  const done = await callEach(session, plan, { targets, isRepeatable })
  await settle(plan, done)
  const values = await shownValues(session, operation, done)
  await emitValues(session, plan, { values, targets: done.map(({ target }) => target) })
  done.forEach((one) => sayDone(session, operation, one))
  return values.some((value) => isNegative(operation, value)) ? EXIT.negative : plan.failures?.exitCode
}

async function settle({ settled }: Plan, done: readonly Done[]): Promise<void> {
  if (settled === undefined) return
  for (const { reply } of done) await settled(reply.value)
}

interface Answers {
  readonly values: readonly unknown[]
  readonly targets: readonly Target[]
}

/** Prints one answer alone, several as a list, and nothing where there is none. What is left of several is a list. */
async function emitValues(session: Session, plan: Plan, { values, targets }: Answers): Promise<void> {
  const { operation } = plan
  if (namedCount(plan, targets) === 1 && values.length === 1) return session.emit(values[0], viewOf(operation, values))
  if (values.length === 0) return
  await session.emit(values, { ...viewOf(operation, values), asked: askedFor(operation, targets, values) })
}

/** The objects that were named, whether or not something failed for one of them. */
function namedCount({ failures }: Plan, targets: readonly unknown[]): number {
  return targets.length + (failures?.count ?? 0)
}

/** Throws where the answer could not be shown as asked, or where the person does not confirm the change. */
async function assertChangeable(session: Session, plan: Plan, targets: readonly Target[]): Promise<void> {
  await session.assertEmittable(expectedOf(plan.operation, namedCount(plan, targets)))
  await (await import('./confirm.ts')).confirmChange(session, plan.operation, targets)
}

/** What the replies answer, with handles that were typed in tables that have a column for them. */
async function shownValues(
  session: Session,
  operation: ManifestOperation,
  done: readonly Done[],
): Promise<readonly unknown[]> {
  const answered = done.flatMap(({ reply: { value }, target }) => (value === undefined ? [] : [{ value, target }]))
  if (operation.cli?.columns?.includes('handle') !== true) return answered.map(({ value }) => value)
  const { withTypedHandle } = await import('./typed-handle.ts')
  return Promise.all(answered.map((one) => withTypedHandle(session, operation, one)))
}

function isNegative({ cli }: ManifestOperation, value: unknown): boolean {
  const rows = cli?.rowsAreNegative === true && cli.rows !== undefined ? memberOf(value, cli.rows) : undefined
  return Array.isArray(rows) && rows.length > 0
}

/** Who is meant by each row, where the rows of several do not say it. */
function askedFor({ cli }: ManifestOperation, targets: readonly Target[], values: readonly unknown[]): View['asked'] {
  const noun = cli?.refs?.[cli.args?.at(-1) ?? '']
  if (noun === undefined) return undefined

  if (values.length !== targets.length || values.every((value) => nameOf(value) !== undefined)) return undefined
  const labels = values.map((value, index) => [value, targets[index]?.object?.label ?? ''] as const)
  return { title: singular(noun), labels: new Map(labels) }
}

/** Most calls need nothing typed; then what reads it stays unloaded. */
async function targetsFor(session: Session, plan: Plan, given: Given): Promise<readonly Target[]> {
  const { domain, project } = await session.settings()
  const isPlaced = domain.value !== undefined || project.value !== undefined
  if (!isPlaced && !needsInput(plan.operation, given))
    return [{ input: { ...plan.operation.cli?.sends }, labels: {}, object: undefined }]
  const targets = await (await import('./input.ts')).targetsOf(session, plan, given)
  return plan.object === undefined ? targets : targets.map((target) => ({ ...target, object: plan.object }))
}

function needsInput(operation: ManifestOperation, { args, flags }: Given): boolean {
  if (
    args.length > 0 ||
    flags['from-file'] !== undefined ||
    flags[SELECTOR] !== undefined ||
    operation.cli?.ownDomain !== undefined
  )
    return true
  return membersOf(operation).some(({ field, word }) => field.required || flags[word] !== undefined)
}

async function performList(session: Session, operation: ManifestOperation, targets: readonly Target[]): Promise<void> {
  const { noteList, readList } = await import('./lists.ts')
  for (const target of targets) {
    const page = await readList(session, operation, target.input)
    await session.emit(page, viewOf(operation))
    noteList(session, page)
    await explainEmpty(session, operation, { page, input: target.input })
  }
}

interface ListRead {
  readonly page: Page<unknown>
  readonly input: Target['input']
}

/** Warns of the selector of an empty list, if something is wrong with it. A list that is watched is not explained each time. */
async function explainEmpty(session: Session, { cli }: ManifestOperation, { page, input }: ListRead): Promise<void> {
  const text = input[cli?.selector ?? '']
  if (page.items.length > 0 || typeof text !== 'string' || session.shared.watch !== undefined) return
  const { warnOfSelector } = await import('./empty-selection.ts')
  await warnOfSelector(session, text, { domainId: input['domain_id'] ?? input['id'] })
}

interface Calls {
  readonly targets: readonly Target[]
  /** An object that is there already is as good as a new one. */
  readonly isRepeatable: boolean
}

/** An answer, or what was found in its place. */
type Answered = Reply & Partial<Existing>

interface Done {
  readonly reply: Answered
  readonly target: Target
}

/** Calls for one target after the other; what a failure leaves undone is said. */
async function callEach(session: Session, plan: Plan, { targets, isRepeatable }: Calls): Promise<readonly Done[]> {
  const { operation, headers } = plan
  const caller = await session.caller()
  session.expectOutput()
  const done: Done[] = []
  const progress = targets.length > 1 ? await progressOf(session, operation, targets.length) : undefined
  for (const [index, target] of targets.entries()) {
    if (session.io.interrupted.aborted) throw interruptedAt(targets, index)
    try {
      const call = caller.call(operation, target.input, { headers })
      done.push({ reply: await orExisting(call, session, { operation, target, isRepeatable }), target })
      progress?.at(index + 1)
    } catch (error) {
      progress?.end()
      await orEnd(session, plan, { targets, index, error, done })
    }
  }
  progress?.end()
  return done
}

interface Failed {
  readonly targets: readonly Target[]
  readonly index: number
  readonly error: unknown
  readonly done: readonly Done[]
}

/**
 * Reports a failure after which the others go on; else says what is done and what is not, and throws. The failure of the only
 * one that was named is reported with its hints.
 */
async function orEnd(session: Session, plan: Plan, { targets, index, error, done }: Failed): Promise<void> {
  const label = targets[index]?.object?.label ?? ''
  const isOneOfSeveral = namedCount(plan, targets) > 1
  if (isOneOfSeveral && (await plan.failures?.take(label, error)) === true) return
  done.forEach((one) => sayDone(session, plan.operation, one))
  if (targets.length > 1) session.warn(undone(targets, index))
  throw error
}

function undone(targets: readonly Target[], from: number): string {
  const labels = targets.slice(from).map(({ object }) => harmless(object?.label ?? ''))
  return `not done: ${labels.join(', ')}`
}

function interruptedAt(targets: readonly Target[], index: number): CliError {
  return new CliError(`interrupted; ${undone(targets, index)}`, { exitCode: EXIT.interrupted, code: 'interrupted' })
}

function withHeaders(request: HttpRequest, headers: Plan['headers']): HttpRequest {
  return headers === undefined ? request : { ...request, headers: { ...request.headers, ...headers } }
}

async function printCalls(session: Session, plan: Plan, targets: readonly Target[]): Promise<void> {
  const { operation, headers } = plan
  const { printCurl } = await import('../output/curl.ts')
  const pageOf = operation.paging ? (await import('./lists.ts')).firstPage : undefined
  const inputs = targets.map(({ input }) => pageOf?.(session, input) ?? input)
  const requests = inputs.map((input) => withHeaders(requestOf(operation, input), headers))
  await printCurl(session, requests, { secretMembers: secretMembersOf(operation) })
  if (operation.paging && session.shared.all === true)
    session.note(
      'That is the first page. For the next one add cursor=C to the query, C being the next_cursor of the answer.',
    )
}

/**
 * How an operation's answer is shown: what it shows this once, if it does, then the columns it declares, or the whole object where
 * it is asked for alone.
 */
export function viewOf(operation: ManifestOperation, values: readonly unknown[] = []): View {
  const { access, cli, method, paging, responses } = operation
  const columns = cli?.columns ?? []
  const onlyNow = responses
    .flatMap(({ writeOnce }) => writeOnce ?? [])
    .filter((member) => !columns.includes(member) && values.some((value) => memberOf(value, member) !== undefined))
  const isWhole = method === 'GET' && !paging
  return {
    columns: [...onlyNow, ...columns],
    wide: cli?.wide,
    members: rowMembers(operation),
    rows: cli?.rows,
    empty: cli?.empty,
    isWhole,
    isChecked: access === 'write',
  }
}

/** What a change will answer. Several calls make a list of their answers. */
export function expectedOf(operation: ManifestOperation, calls = 1): Expected {
  const { cli, shapes = {} } = operation
  const [shape] = Object.values(shapes)
  const list = shape?.fields?.find(({ name }) => name === (cli?.rows ?? 'items'))
  return { view: viewOf(operation), isList: calls > 1 || shape?.type === 'array' || list?.type === 'array' }
}

/** The members of the rows of a list, or of the one object that is answered. */
export function rowMembers({ cli, shapes = {} }: ManifestOperation): readonly string[] | undefined {
  const [shape] = Object.values(shapes)
  const list = shape?.type === 'array' ? shape : shape?.fields?.find(({ name }) => name === (cli?.rows ?? 'items'))
  return (list?.items ?? shape)?.fields?.map(({ name }) => name)
}

async function progressOf(session: Session, { summary }: ManifestOperation, total: number) {
  return (await import('../output/progress.ts')).createProgress(session, summary, total)
}

interface Repeatable {
  readonly operation: ManifestOperation
  readonly target: Target
  readonly isRepeatable: boolean
}

/** The reply; where the handle is taken and the call may be repeated, what has it. */
async function orExisting(reply: Promise<Reply>, session: Session, of: Repeatable): Promise<Answered> {
  try {
    return await reply
  } catch (error) {
    if (!of.isRepeatable) throw error
    const existing = await (await import('./existing.ts')).existingFor(error, session, of)
    if (existing === undefined) throw error
    return { status: 200, headers: {}, ...existing }
  }
}

/** Says the sentence of the contract, its holes filled from the answer, else from what was asked. */
function sayDone(session: Session, { cli, body }: ManifestOperation, done: Done): void {
  if (done.reply.instead !== undefined) return session.note(done.reply.instead)
  const isNamed = (member: string): boolean => isCalledAsTyped(member, cli?.refs?.[member], body)
  const sentence = cli?.done?.replace(/\{([\w.]+)\}/g, (_, member: string) =>
    isNamed(member) ? (done.target.labels[member] ?? wordFor(member, done)) : wordFor(member, done),
  )
  if (sentence !== undefined) session.note(sentence)
  const sunset = Date.parse(done.reply.headers['sunset'] ?? '')
  if (Number.isNaN(sunset) || done.reply.headers['deprecation'] !== undefined) return
  session.note(`The old one works until ${new Date(sunset).toISOString()}.`)
}

/** A subject, an object, and what a body refers to are called as they were typed. `{id}` may be a parent's: the answer has the object's. */
function isCalledAsTyped(member: string, noun: string | undefined, body: ManifestOperation['body']): boolean {
  if (noun === undefined) return false
  return noun === 'subjects' || noun === 'objects' || body?.fields.some(({ name }) => name === member) === true
}

function wordFor(member: string, { reply, target }: Done): string {
  const value = memberOf(reply.value, member) ?? target.labels[member] ?? memberOf(target.input, member)
  return harmless(typeof value === 'string' ? value : JSON.stringify(value ?? ''))
}
