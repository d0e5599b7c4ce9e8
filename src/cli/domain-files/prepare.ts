import type { Session } from '../session/session.ts'
import { usageError } from '../errors/cli-error.ts'
import { harmless } from '../output/style.ts'
import { SET_FILE } from './folder/layout.ts'
import { readFolder, type Folder } from './folder/read-folder.ts'
import type { World } from './kind.ts'
import { isFirstRun, makePlan } from './plan/make-plan.ts'
import type { Plan } from './plan/plan.ts'
import { readDomain } from './read-domain.ts'

/** How a folder is compared with the Domain. */
export interface Comparing {
  readonly prune: boolean
  readonly pruneMax: number | undefined
  readonly isAdopting?: boolean
  /** The Domain of the saved plan that is applied. */
  readonly savedDomain?: string
}

/** The flags by which it is compared. */
export interface ComparingFlags {
  readonly prune?: boolean | undefined
  readonly 'prune-max'?: number | undefined
  readonly adopt?: boolean | undefined
}

export function comparingOf(flags: ComparingFlags): Comparing {
  return { prune: flags.prune === true, pruneMax: flags['prune-max'], isAdopting: flags.adopt === true }
}

/** Objects that `--prune` removes at most, where nothing else is said. */
export const PRUNE_MAX = 10

/** What is compared, and where. */
export interface Prepared {
  readonly world: World
  readonly plan: Plan
  /** The Domain and the server, as people are asked about them. */
  readonly target: string
}

/** Reads a folder and the Domain, and plans what makes the Domain what the folder says. */
export async function prepare(session: Session, path: string, comparing: Comparing): Promise<Prepared> {
  const { prune, pruneMax, isAdopting = false } = comparing
  if (!prune && pruneMax !== undefined) throw usageError('--prune-max goes with --prune')
  const manifest = session.manifest()
  const folder = await readFolder(path, { cwd: session.io.cwd, manifest })
  if (prune) assertPrunable(path, folder)
  const world = await readDomain(session, folder.documents)
  const { domain, url } = await session.settings()
  const chosen = domain.origin === '--domain' ? world.names.domainSlug : comparing.savedDomain
  assertTarget(folder.domain, { domain: world.names.domainSlug, chosen, url: url.value })
  const caller = world.names.shownReference(String((await session.whoami())['subject']))
  const set = folder.set ?? world.names.domainSlug
  const bound = boundOf(session, comparing, { set, isFirst: isFirstRun(world, set) })
  const { documents } = folder
  const plan = await makePlan({ manifest, world, set, documents, pruneMax: bound, isAdopting, caller })
  return { world, plan, target: harmless(`Domain ${world.names.domainSlug} on ${url.value}`) }
}

/** How many objects may be removed; undefined where none may. */
function boundOf(
  session: Session,
  { prune, pruneMax }: Comparing,
  { set, isFirst }: { readonly set: string; readonly isFirst: boolean },
): number | undefined {
  if (!prune) return undefined
  if (!isFirst) return pruneMax ?? PRUNE_MAX
  session.note(`Set ${set} has created nothing yet: its first run removes nothing.`)
  return undefined
}

/** The Domain that files are compared with. */
export interface Target {
  readonly domain: string
  /** The Domain that was named for these files: by `--domain`, or in a saved plan. */
  readonly chosen: string | undefined
  readonly url: string
}

/**
 * Files of one Domain are applied to another one where that is named.
 *
 * @throws CliError
 */
export function assertTarget(exported: string | undefined, { domain, chosen, url }: Target): void {
  if (exported === undefined || exported === domain || chosen === domain) return
  throw usageError(
    `the files are of Domain ${exported}, and the command would work in Domain ${domain} on ${url}`,
    `For Domain ${exported}: --domain ${exported}, or --context NAME for another server. To make ${domain} what the files say: --domain ${domain}`,
  )
}

/**
 * An empty folder, or one that says no name, is a mistake where it would remove all that the set has created.
 *
 * @throws CliError
 */
export function assertPrunable(path: string, { set, documents }: Pick<Folder, 'set' | 'documents'>): void {
  if (set === undefined)
    throw usageError(
      `${path} has no ${SET_FILE}, and --prune needs the name of the set whose objects it may remove`,
      `Name the folder of an export, or write ${SET_FILE} with the lines "format: 1" and "set: NAME".`,
    )
  if (documents.length === 0)
    throw usageError(
      `${path} has no files of objects: --prune would remove all that set ${set} has created`,
      'Name the folder with the files. To remove objects on purpose, write "absent: true" in their files.',
    )
}
