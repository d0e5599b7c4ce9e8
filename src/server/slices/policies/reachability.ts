import { canonicalize } from '../../../shared/canonical-json.ts'
import type { policies } from '../../../shared/contract/policies.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { compilePolicy } from '../../../shared/policies/compile-policy.ts'
import { verdictOf, type Party, type SideVerdict } from '../../../shared/policies/verdict.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import { readGroups } from './groups-store.ts'
import { policiesAt } from './node-classes.ts'
import { groupsOf } from './nodes-store.ts'
import { readNodeParties, readPoliciesInForce, type NodeParty, type PolicyInForce } from './parties-store.ts'

type SideAnswer = Result<(typeof policies)['operations']['CheckReachability']>['egress']

/** Serves the question whether one node reaches another, and by which rule (decisions: Policies). */
export function createReachability({
  datastore,
}: {
  readonly datastore: Datastore
}): Pick<Handlers<typeof policies>, 'CheckReachability'> {
  return {
    async CheckReachability(ctx, { id: domainId, from, to, protocol, port }) {
      if (protocol === 'icmp' && port !== undefined) throw problem('invalid_protocol')
      ctx.note({ from, to })
      const db = datastore.pool('interactive')
      const inForce = await readPoliciesInForce(db, domainId)
      const nodes = await readNodeParties(db, domainId, {
        policyIds: inForce.map(({ id }) => id),
        nodeIds: [from, to],
      })
      const partyOf = (id: string): Party => toParty(inForce, required(nodes, id))
      const verdict = verdictOf(partyOf(from), partyOf(to), { protocol, port })
      const toSide = await createSideAnswers(db, domainId, inForce)
      return {
        from,
        to,
        protocol: protocol ?? null,
        port: port ?? null,
        allowed: verdict.allowed,
        egress: toSide(verdict.egress),
        ingress: toSide(verdict.ingress),
      }
    },
  }
}

/** @throws Problem `node_not_found` for a node of another Domain too. */
function required(nodes: readonly NodeParty[], id: string): NodeParty {
  const node = nodes.find((one) => one.id === id)
  if (node === undefined) throw problem('node_not_found')
  return node
}

function toParty(inForce: readonly PolicyInForce[], { policies: indexes, groups, meshAddress }: NodeParty): Party {
  const matching = policiesAt(indexes).flatMap((index) => inForce[index] ?? [])
  return {
    policies: matching.map(({ id, entries }) => ({ policyId: id, entries })),
    groups: groupsOf(groups),
    meshAddress,
  }
}

/** Names the policy and the rule as its author wrote it: rules that compile to the same entry are one, the first. */
async function createSideAnswers(
  db: Db,
  domainId: string,
  inForce: readonly PolicyInForce[],
): Promise<(side: SideVerdict) => SideAnswer> {
  const groups = new Map((await readGroups(db, domainId)).map(({ selector, number }) => [selector, number]))

  function ruleOf({ document: { rules }, entries }: PolicyInForce, entry: number): number | undefined {
    const text = canonicalize(entries[entry])
    const index = rules.findIndex((rule) => {
      const { rules: compiled } = compilePolicy(
        { isolates: [], rules: [rule] },
        (named) => groups.get(named) ?? NO_GROUP,
      )
      return canonicalize(compiled[0]) === text
    })
    return index === -1 ? undefined : index
  }

  return ({ isolated, allowed, by }) => {
    const policy = inForce.find(({ id }) => id === by?.policyId)
    if (policy === undefined || by === undefined) return { isolated, allowed }
    const rule = ruleOf(policy, by.entry)
    return { isolated, allowed, policy_id: policy.id, policy: policy.slug, ...(rule !== undefined && { rule }) }
  }
}

/** For a selector whose group went between two reads: larger than any number that is given. */
const NO_GROUP = Number.MAX_SAFE_INTEGER
