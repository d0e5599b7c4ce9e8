import type { Session } from '../session/session.ts'
import { usageError } from '../errors/cli-error.ts'
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

/** Reads a folder and the Domain, and plans what makes the Domain what the folder says. */
export async function prepare(
  session: Session,
  path: string,
  comparing: Comparing,
): Promise<{ readonly world: World; readonly plan: Plan }> {
  const { prune, pruneMax, isAdopting = false } = comparing
  if (!prune && pruneMax !== undefined) throw usageError('--prune-max goes with --prune')
  const manifest = session.manifest()
  const folder = await readFolder(path, { cwd: session.io.cwd, manifest })
  if (prune) assertPrunable(path, folder)
  const { set: named, documents } = folder
  const world = await readDomain(session, documents)
  const caller = world.names.shownReference(String((await session.whoami())['subject']))
  const set = named ?? world.names.domainSlug
  const isFirst = isFirstRun(world, set)
  if (prune && isFirst) session.note(`Set ${set} has created nothing yet: its first run removes nothing.`)
  const bound = prune && !isFirst ? (pruneMax ?? PRUNE_MAX) : undefined
  return { world, plan: await makePlan({ manifest, world, set, documents, pruneMax: bound, isAdopting, caller }) }
}

/**
 * An empty folder, or one that says no name, is a mistake where it would remove all that the set has created.
 *
 * @throws CliError
 */
export function assertPrunable(path: string, { set, documents }: Folder): void {
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
