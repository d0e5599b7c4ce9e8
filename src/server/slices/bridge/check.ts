import type { bridge } from '../../../shared/contract/bridge.ts'
import type { Input } from '../../../shared/contract/operation-types.ts'
import { withCandidate, type Candidate } from '../../bridges/bridge-parts.ts'
import type { BridgeWorld } from '../../bridges/bridge-world.ts'
import { nameOf } from '../../bridges/claims.ts'
import type { Bridge } from '../../bridges/find-bridge.ts'
import { readWorld } from '../../bridges/read-world.ts'
import { conflictsWithin, partsOf, routesOf } from '../../bridges/validate.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { AcmeDirectories } from '../../ports/acme-directories.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { bridgeOf } from './change-bridge.ts'
import { acmeConflicts, secretConflicts, wholeConflicts } from './check-surroundings.ts'
import { answerOf, refOf, type ConflictAnswer } from './conflict-answer.ts'
import { ingressOf } from './ingress.ts'
import { tunnelOf } from './site-to-site.ts'
import { sharedSubnetConflicts } from './subnets-elsewhere.ts'
import { unroutedSubnetConflicts } from './subnets-not-routed.ts'
import { userAccessOf } from './user-access.ts'

/** Conflicts that one answer holds: pairs of parts are many where all of them claim the same. */
const CONFLICTS_MAX = 1000

interface CheckDeps {
  readonly datastore: Datastore
  readonly acmeDirectories: AcmeDirectories
}

/** Serves the check of a bridge: it writes nothing but its audit row. */
export function createCheck({ datastore, acmeDirectories }: CheckDeps): Pick<Handlers<typeof bridge>, 'CheckBridge'> {
  const db = () => datastore.pool('interactive')

  /** What the parts name outside of the bridge. A part has one conflict here at most. */
  async function outsideConflicts(found: Bridge, parts: readonly Candidate[]): Promise<ConflictAnswer[]> {
    const ofSecrets = await secretConflicts(db(), found, parts)
    const missing = new Set(ofSecrets.map(({ part }) => part))
    const rules = parts.filter((part) => part.part === 'ingress' && !missing.has(nameOf(part)))
    return [...ofSecrets, ...(await acmeConflicts(acmeDirectories, found, rules))]
  }

  return {
    async CheckBridge(ctx, { body, ...path }) {
      const found = await bridgeOf(ctx, db(), path)
      const candidates = candidatesOf(body)
      const stored = await readWorld(db(), found, candidates)
      const world = { ...stored, parts: candidates.reduce(withCandidate, stored.parts) }
      const own = conflictsWithin(world, new Set(candidates.map(nameOf)))
      const parts = new Map(partsOf(world.parts).map((part) => [nameOf(part), part]))
      const foreign = new Set(own.flatMap(({ code, part }) => (code === 'secret_ref_malformed' ? [part] : [])))
      const manages = await ctx.holds('manage', `resource:${found.resourceId}`)
      const known = mayAsk(manages, stored)
      const routes = routesOf(partsOf((manages ? world : stored).parts).filter(isAnnounced))
      const mayName = (id: string): Promise<boolean> => ctx.holds('observe', `resource:${id}`)
      const asked = [...parts.values()].filter((part) => !foreign.has(nameOf(part)) && known(part))
      const conflicts = [
        ...own.map((conflict) => answerOf(conflict, world, parts.get(conflict.part))),
        ...(await outsideConflicts(found, asked)),
        ...(await wholeConflicts(db(), found, world)),
        ...(await unroutedSubnetConflicts(db(), found, routes)),
        ...(world.hostIds.length > 0 ? await sharedSubnetConflicts(db(), found, { routes, mayName }) : []),
      ]
      return { resource_id: found.resourceId, conflicts: conflicts.slice(0, CONFLICTS_MAX) }
    },
  }
}

/** Whether the nodes of the Domain reach the networks of a part: user access of other kinds than `wireguard` is not carried out. */
function isAnnounced(part: Candidate): boolean {
  return part.part !== 'user-access' || part.value.kind === 'wireguard'
}

/**
 * Which parts may be looked up outside of the bridge. A caller that may only observe it must not learn which other secrets
 * exist, nor which subnets other bridges have, nor have the server call an address that the bridge does not name.
 */
function mayAsk(manages: boolean, { parts }: BridgeWorld): (part: Candidate) => boolean {
  if (manages) return () => true
  const stored = new Set(partsOf(parts).map(refOf))
  return (part) => stored.has(refOf(part))
}

type Body = Input<(typeof bridge)['operations']['CheckBridge']>['body']

function candidatesOf({ relay, user_access = [], ingress = [], site_to_site = [] }: Body): readonly Candidate[] {
  return [
    ...(relay === undefined ? [] : [{ part: 'relay' as const, value: relay }]),
    ...user_access.map((body) => ({ part: 'user-access' as const, value: userAccessOf(body.slug, body) })),
    ...ingress.map((body) => ({ part: 'ingress' as const, value: ingressOf(body.slug, body) })),
    ...site_to_site.map((body) => ({ part: 'site-to-site' as const, value: tunnelOf(body.slug, body) })),
  ]
}
