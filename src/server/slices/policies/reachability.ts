import type { policies } from '../../../shared/contract/policies.ts'
import { verdictOf, type Party } from '../../../shared/policies/verdict.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { readGroups } from '../../policies/groups-store.ts'
import { policiesAt } from './node-classes.ts'
import { groupsOf } from '../../policies/nodes-store.ts'
import { readNodeParties, readPoliciesInForce, type NodeParty, type PolicyInForce } from './parties-store.ts'
import { createSideAnswers, type NamedPolicy } from './side-answers.ts'

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
      const groups = new Map((await readGroups(db, domainId)).map(({ selector, number }) => [selector, number]))
      const toSide = createSideAnswers(inForce.map(asNamed), groups)
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

function asNamed({ id, slug, document: { rules }, entries }: PolicyInForce): NamedPolicy {
  return { key: id, id, slug, rules, entries }
}
