import { LABEL_KINDS, storedKind, type LabelKind } from '../../../shared/labels/label-kinds.ts'
import { Problem } from '../../../shared/problems.ts'
import { createSecondChanceMap } from '../../../shared/second-chance-map.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Candidates } from '../../labels/choose-driver.ts'
import type { Authorizer } from '../../ports/authorizer.ts'
import type { AuthzLookups } from '../../ports/authz-lookups.ts'

export interface FewVisibleDeps {
  readonly authorizer: Pick<Authorizer, 'hasRelation'>
  readonly lookups: Pick<AuthzLookups, 'fewResources'>
  /** Objects that are few, at most. Default: `FEW_MAX`. */
  readonly max?: number
}

/** What is searched for, and on which relation. */
export interface Sought {
  readonly relation: string
  /** All kinds if absent. */
  readonly kind: LabelKind | undefined
}

/** The objects on which a caller has a relation, where they are few. */
export interface FewVisible {
  /** What the last lookup for the caller found; undefined where it is unknown or old. */
  remembered(ctx: Asking, sought: Sought): 'few' | 'many' | undefined
  /** Looks up what the caller may see, and remembers whether that is little. */
  find(ctx: Asking, sought: Sought): Promise<LookedUp>
}

/** What a lookup found. Without either member there is more than a few, or what there is cannot be decided as a whole. */
export interface LookedUp {
  /** At least the objects that a check of each would allow. */
  readonly few?: Candidates
  /** That the engine is out of reach. */
  readonly outage?: Problem
}

type Asking = Pick<RequestContext, 'caller' | 'facts' | 'nowMs'>

/**
 * The border: a caller who may see more objects than this gets pages of all that matches, whose rows are then checked. Both ways
 * cost the same for some 7,000 of 100,000 nodes; up to 1,000 a page costs at most about three times what it costs without
 * (decision 0055, `npm run bench -- few-visible`).
 */
export const FEW_MAX = 1_000

/** How long it is remembered whether a caller sees few objects. It decides the time that a search takes, not what it finds. */
const REMEMBERED_MS = 60_000

/** Callers with their relations and kinds that are remembered. */
const ENTRIES_MAX = 10_000

/** Objects are most often of these kinds, so that a lookup that finds too many gives up early. */
const FIRST_KINDS: readonly LabelKind[] = ['node', 'resource']
const STORED_KINDS = [...FIRST_KINDS, ...LABEL_KINDS.filter((kind) => !FIRST_KINDS.includes(kind))].filter(
  (kind) => storedKind(kind) === kind,
)

/** The ids of objects that have labels. Others can be in tuples. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

interface Remembered {
  readonly extent: 'few' | 'many'
  readonly atMs: number
}

/** Looks up what callers may see, and remembers whether that was much. */
export function createFewVisible({ authorizer, lookups, max = FEW_MAX }: FewVisibleDeps): FewVisible {
  const extents = createSecondChanceMap<Remembered>(ENTRIES_MAX)

  async function lookUp({ caller, facts }: Asking, { relation, kind }: Sought): Promise<Candidates | undefined> {
    const kinds = kind === undefined ? STORED_KINDS : [kind]
    const found = { kinds: [] as Candidates['kinds'][number][], ids: [] as string[] }
    for (const resourceType of kinds.filter((each) => authorizer.hasRelation(each, relation))) {
      const asked = { subject: caller.subject, relation, resourceType, facts, max }
      const ids = await lookups.fewResources(asked)
      if (ids === undefined || found.ids.length + ids.length > max) return undefined
      for (const id of ids.filter((each) => UUID.test(each))) {
        found.kinds.push(storedKind(resourceType))
        found.ids.push(id)
      }
    }
    return found
  }

  return {
    remembered({ caller, nowMs }, sought) {
      const known = extents.get(keyOf(caller.subject, sought))
      return known !== undefined && nowMs - known.atMs < REMEMBERED_MS ? known.extent : undefined
    },
    async find(ctx, sought) {
      const found = await lookUp(ctx, sought).catch(undecided)
      if (found instanceof Problem) return { outage: found }
      const extent = found === undefined ? 'many' : 'few'
      extents.set(keyOf(ctx.caller.subject, sought), { extent, atMs: ctx.nowMs })
      return found === undefined ? {} : { few: found }
    },
  }
}

/** The parts contain no space: they are parts of a valid question. */
function keyOf(subject: string, { relation, kind }: Sought): string {
  return `${subject} ${relation} ${kind ?? ''}`
}

/** An outage, or undefined for tuples that are nested too deep: rows are then checked one by one, and most can be decided. */
function undecided(failure: unknown): Problem | undefined {
  if (!(failure instanceof Problem)) throw failure
  return failure.code === 'authz_unavailable' ? failure : undefined
}
