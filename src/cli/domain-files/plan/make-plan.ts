import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { isRow } from '../../output/members.ts'
import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { digestOf } from '../canonical.ts'
import { assertMeaning } from '../check/assert-meaning.ts'
import { keyOf, MANAGED_BY, titleOf, type FileDocument, type LiveObject } from '../document.ts'
import type { Kind, World } from '../kind.ts'
import { KINDS, kindNamed } from '../kinds.ts'
import { liveByKey } from '../read-domain.ts'
import { changesOf, fixedMembers, othersDigest, removedEntries, type Compared } from './compare.ts'
import type { Change, Plan, Step, Wait } from './plan.ts'
import { createSuggester, type Suggester } from './suggest-reference.ts'

/** What files are compared with a Domain for. */
export interface Planning {
  readonly manifest: Manifest
  readonly world: World
  readonly set: string
  readonly documents: readonly FileDocument[]
  /** Objects of the set that no file names are removed, at most so many. Undefined in the first run of a set. */
  readonly pruneMax?: number | undefined
  /** Objects that files name and no set has created become this set's. */
  readonly isAdopting?: boolean
  /** Who applies the files, such as `service:ci`. Neither the caller nor its roles are removed. */
  readonly caller?: string
}

/** Members whose entries belong to an object that the set has created. */
const OWNED_ENTRIES = new Set(['members', 'roles'])
const NONE: ReadonlySet<string> = new Set()

/**
 * Compares the documents of files with a Domain.
 *
 * @throws CliError where a file wants something that cannot be, such as another kind of an existing resource or a role that there is not.
 */
export async function makePlan(planning: Planning): Promise<Plan> {
  const { world, documents, set, pruneMax, isAdopting } = planning
  const live = liveByKey(world)
  announceAll(planning)
  await assertMeaning(world, documents)
  const suggesting = { ...planning, near: createSuggester(world, documents) }
  const found = await Promise.all(documents.map((document) => stepOf(suggesting, document, live.get(keyOf(document)))))
  const unnamed = unnamedObjects(planning, new Set(documents.map(keyOf)))
  const pruned = prunedSteps(planning, unnamed)
  const withHold = holds(planning, live)
  const steps = [...found.flatMap(({ step }) => step ?? []), ...pruned].map(withHold)
  const removed = new Set(pruned.map(keyOf))
  return {
    format: 1,
    set,
    ...(pruneMax !== undefined && { prune: pruneMax }),
    ...(isAdopting === true && { adopt: isAdopting }),
    domain: world.names.domainSlug,
    files: digestOf(documents.map(({ kind, name, members, isAbsent }) => [kind, name, members, isAbsent ?? false])),
    steps: inOrder(steps),
    waits: found.flatMap(({ waits }) => waits),
    unnamed: unnamed.filter((object) => !removed.has(keyOf(object))).map(({ kind, name }) => ({ kind, name })),
  }
}

/** Labels and selectors of the files mean the Definitions of the files before those of the platform. */
function announceAll({ world, documents }: Planning): void {
  for (const document of documents) {
    if (document.isAbsent !== true) kindNamed(document.kind)?.announce?.(world.names, document)
  }
}

interface Suggesting extends Planning {
  readonly near: Suggester
}

interface Found {
  readonly step?: Step
  readonly waits: readonly Wait[]
}

async function stepOf(planning: Suggesting, document: FileDocument, live: LiveObject | undefined): Promise<Found> {
  const kind = kindNamed(document.kind)
  if (kind === undefined) throw new Error(`no kind ${document.kind}`)
  if (document.isAbsent === true) {
    if (live !== undefined && isOfCaller(planning, live)) throw selfRemoval(document)
    return { ...(live !== undefined && { step: removal(live) }), waits: [] }
  }
  const waits = waitsOf(planning, kind, document)
  if (live !== undefined) return compareObject(planning, kind, { document, live, waits })
  if (kind.create === undefined) return { waits: [absence(document)] }
  return isCreatable(planning.world, kind, document.name)
    ? compareObject(planning, kind, { document, live, waits })
    : { waits }
}

interface Comparison extends Found {
  readonly document: FileDocument
  readonly live: LiveObject | undefined
}

/** The step that makes an object what its document says; none where it is that already. */
async function compareObject(planning: Planning, kind: Kind, { document, live, waits }: Comparison): Promise<Found> {
  const file = (await kind.normal?.(planning.world, document)) ?? document.members
  const compared = {
    file: withLabels(planning, kind, { file, live }),
    live: live?.members,
    exact: exactMembers(planning, live),
  }
  assertUnfixed(kind, document, { planning, compared })
  const changes = changesOf(kind.members(planning.manifest), compared)
  // Grants without roles are no object of the server.
  if (changes.length === 0) return { waits }
  assertKnown(document, waits, changes)
  const action = live === undefined ? 'create' : 'change'
  const others = othersDigest(live?.members, changes)
  return { step: { action, kind: kind.name, name: document.name, changes, others }, waits }
}

/** The labels of a file by their shown keys, with the mark of the set on what it creates or adopts. */
function withLabels(
  { world: { names }, set, isAdopting }: Planning,
  kind: Kind,
  { file, live }: { readonly file: FileDocument['members']; readonly live: LiveObject | undefined },
): FileDocument['members'] {
  if (kind.labels === undefined) return file
  const own = isRow(file['labels']) ? Object.entries(file['labels']) : []
  const isMarked =
    kind.remove !== undefined && (live === undefined || (isAdopting === true && live.managedBy === undefined))
  const labels = own.map(([key, value]) => [names.shownKey(names.qualifiedKey(key)), value] as const)
  const marked = isMarked ? [...labels, [MANAGED_BY, set] as const] : labels
  return marked.length === 0 ? file : { ...file, labels: Object.fromEntries(marked) }
}

/** With `--prune`, members and roles that a file does not name are removed from what the set has created. */
function exactMembers(planning: Planning, live: LiveObject | undefined): ReadonlySet<string> {
  const { world, set, pruneMax } = planning
  if (pruneMax === undefined || live === undefined || isOfCaller(planning, live)) return NONE
  return ownerOf(world, live)?.managedBy === set ? OWNED_ENTRIES : NONE
}

/** Whether an object is the one who applies the files, or its roles. Without them, the rest of the run would be refused. */
function isOfCaller({ caller }: Planning, { kind, name }: LiveObject): boolean {
  return (
    caller !== undefined && caller === (kind === 'service-identity' ? `service:${name}` : kind === 'grants' && name)
  )
}

function selfRemoval(document: FileDocument): CliError {
  return new CliError(`${document.file}: ${titleOf(document)} is what applies the files, and cannot remove itself`, {
    exitCode: EXIT.conflict,
    code: 'removes_caller',
    hints: ['Sign in as another administrator to remove it, or take "absent: true" out of the file.'],
  })
}

/** Roles belong to the object that is their subject. */
function ownerOf(world: World, live: LiveObject): LiveObject | undefined {
  if (live.kind !== 'grants') return live
  const mark = live.name.indexOf(':')
  const [type, name] = [live.name.slice(0, mark), live.name.slice(mark + 1)]
  const kind = type === 'service' ? 'service-identity' : type
  return world.live.get(kind)?.find((object) => object.name === name)
}

/** A set that has created nothing yet runs for the first time. */
export function isFirstRun({ live }: World, set: string): boolean {
  return ![...live.values()].flat().some(({ managedBy }) => managedBy === set)
}

function unnamedObjects(planning: Planning, named: ReadonlySet<string>): readonly LiveObject[] {
  const { world, set } = planning
  const removable = [...world.live.values()].flat().filter(({ kind }) => kindNamed(kind)?.remove !== undefined)
  const isOwn = (object: LiveObject): boolean =>
    ownerOf(world, object)?.managedBy === set && !isOfCaller(planning, object)
  return removable.filter((object) => !named.has(keyOf(object)) && isOwn(object))
}

/** @throws CliError where more than the bound would be removed. */
function prunedSteps({ pruneMax }: Planning, unnamed: readonly LiveObject[]): readonly Step[] {
  if (pruneMax === undefined) return []
  if (unnamed.length <= pruneMax) return unnamed.map(removal)
  throw new CliError(`--prune would remove ${unnamed.length} objects, and at most ${pruneMax} are allowed`, {
    exitCode: EXIT.conflict,
    code: 'prune_limit',
    hints: [
      ...unnamed.slice(0, 20).map((object) => `  ${titleOf(object)}`),
      `If all of them are to go: --prune-max ${unnamed.length}`,
    ],
  })
}

function removal(live: LiveObject): Step {
  return { action: 'remove', kind: live.kind, name: live.name, changes: [], others: othersDigest(live.members, []) }
}

function absence({ kind, name }: FileDocument): Wait {
  const [project = '', slug = ''] = name.split('/')
  const what =
    kind === 'secret'
      ? `there is no such secret: ctl secrets put ${slug} --project ${project} --value-file FILE`
      : 'no node of that name has joined'
  return { kind, name, what }
}

/** An object that names another in its own name needs it. */
function isCreatable({ isKnown }: World, kind: Kind, name: string): boolean {
  const needed = kind.owner?.(name)
  return needed === undefined || isKnown(needed)
}

function waitsOf({ world, near }: Suggesting, kind: Kind, document: FileDocument): readonly Wait[] {
  const named = new Set(kind.references?.(document) ?? [])
  const unknown = [...named].filter((reference) => !world.isKnown(reference))
  return unknown.map((reference) => {
    const meant = near(reference)
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
    return { kind: kind.name, name: document.name, what: `there is no ${reference} yet${hint}` }
  })
}

function assertUnfixed(
  kind: Kind,
  document: FileDocument,
  { planning, compared }: { readonly planning: Planning; readonly compared: Compared },
): void {
  const [member] = fixedMembers(kind.members(planning.manifest), compared)
  if (member === undefined) return
  throw new CliError(
    `${document.file}: ${member} of ${titleOf(document)} is chosen at its creation and cannot change`,
    {
      exitCode: EXIT.conflict,
      code: 'member_fixed',
      hints: [
        `The object has ${JSON.stringify(compared.live?.[member])}, the file ${JSON.stringify(compared.file[member])}`,
      ],
    },
  )
}

/** Members whose entries name other objects. */
const NAMING_MEMBERS = new Set(['members', 'roles', 'hosts', 'ingress'])

/**
 * A name that nothing has may be one that is to come, or a mistake. Where it takes the place of something, it is not waited for: the
 * object would lose what it has, and have nothing instead.
 *
 * @throws CliError
 */
function assertKnown(document: FileDocument, waits: readonly Wait[], changes: readonly Change[]): void {
  const [wait] = waits
  const lost = changes.find((change) => NAMING_MEMBERS.has(change.member.split('.')[0] ?? '') && isLoss(change))
  if (wait === undefined || lost === undefined) return
  throw new CliError(`${document.file}: ${wait.what}, and ${titleOf(document)} would lose what it has instead`, {
    exitCode: EXIT.invalid,
    code: 'invalid_files',
    hints: [
      `Without it, ${lost.member.split('.')[0] ?? ''} would change from ${JSON.stringify(lost.from)} to ${JSON.stringify(lost.to ?? null)}`,
      'Correct the name. If it is to come later, keep what is there until then.',
    ],
  })
}

function isLoss(change: Change): boolean {
  return !isRow(change.to) && removedEntries(change) > 0
}

/** Says of steps whether they will wait for approval. */
function holds({ world, documents }: Planning, live: ReadonlyMap<string, LiveObject>): (step: Step) => Step {
  const byKey = new Map(documents.map((document) => [keyOf(document), document]))
  return (step) => {
    const { kind, name, changes } = step
    const document = byKey.get(keyOf(step)) ?? { kind, name, members: {} }
    const action = kindNamed(kind)?.heldUnder?.(world, { document, live: live.get(keyOf(step)), changes })
    const approvals = action === undefined ? 0 : approvalsFor(world, action, changes)
    return action === undefined || approvals === 0 ? step : { ...step, held: { action, approvals } }
  }
}

function approvalsFor({ live }: World, action: string, changes: readonly Change[]): number {
  const policy = live.get('approval-policy')?.[0]?.row
  // What loosens a policy waits for as many as it asked for before.
  if (action === 'approval-policies.loosen') return Math.max(0, ...changes.flatMap(({ from }) => requiredIn(from)))
  const effective = Array.isArray(policy?.['effective']) ? policy['effective'].filter(isRow) : []
  return Number(effective.find((one) => one['action'] === action)?.['required_approvals'] ?? 0)
}

function requiredIn(actions: unknown): readonly number[] {
  return isRow(actions)
    ? Object.values(actions).flatMap((one) => (isRow(one) ? [Number(one['required_approvals'])] : []))
    : []
}

/** Creations and changes in the order of the kinds, then removals in the reverse. */
function inOrder(steps: readonly Step[]): readonly Step[] {
  const place = new Map(KINDS.map(({ name }, index) => [name, index]))
  const rank = ({ action, kind }: Step): number => {
    const index = place.get(kind) ?? 0
    return action === 'remove' ? 2 * KINDS.length - index : index
  }
  return steps.toSorted(
    (one, other) => rank(one) - rank(other) || (one.name < other.name ? -1 : Number(one.name > other.name)),
  )
}
