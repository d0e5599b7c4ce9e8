import type { bridge } from '../../../shared/contract/bridge.ts'
import type { Input, Result } from '../../../shared/contract/operation-types.ts'
import type { IngressRule } from '../../bridges/bridge-parts.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { AcmeDirectories } from '../../ports/acme-directories.ts'
import type { Datastore } from '../../ports/datastore.ts'
import * as store from './ingress-store.ts'
import { createPartHandlers } from './part-handlers.ts'
import type { PartKind, Stored } from './part-kind.ts'

type Operations = (typeof bridge)['operations']
type IngressAnswer = Result<Operations['GetBridgeIngressRule']>
type Served = Pick<
  Handlers<typeof bridge>,
  | 'CreateBridgeIngressRule'
  | 'ListBridgeIngressRules'
  | 'GetBridgeIngressRule'
  | 'UpdateBridgeIngressRule'
  | 'DeleteBridgeIngressRule'
>

export interface IngressDeps {
  readonly datastore: Datastore
  readonly acmeDirectories: AcmeDirectories
}

function kindOf({ acmeDirectories }: IngressDeps): PartKind<IngressRule> {
  return {
    part: 'ingress',
    events: { configured: 'bridge.PublicIngressRuleConfigured', removed: 'bridge.PublicIngressRuleRemoved' },
    missing: 'ingress_rule_not_found',
    candidateOf: (value) => ({ part: 'ingress', value }),
    list: store.listIngress,
    find: store.findIngress,
    insert: store.insertIngress,
    update: store.updateIngress,
    remove: store.removeIngress,
    claim: store.claimIngress,
    async inspect(place, { acme_account_ref: ref }) {
      if (ref !== null) await acmeDirectories.check(ref, place)
    },
  }
}

/** Serves the public ingress rules of a bridge. */
export function createIngress(deps: IngressDeps): Served {
  const { create, list, get, replace, remove } = createPartHandlers(deps, kindOf(deps))
  return {
    CreateBridgeIngressRule: async (ctx, { body, ...path }) =>
      toAnswer(await create(ctx, path, ingressOf(body.slug, body))),
    ListBridgeIngressRules: async (ctx, path) => ({ items: (await list(ctx, path)).map(toAnswer) }),
    GetBridgeIngressRule: async (ctx, path) => toAnswer(await get(ctx, path)),
    UpdateBridgeIngressRule: async (ctx, { body, slug, ...path }) =>
      toAnswer(await replace(ctx, path, { value: ingressOf(slug, body) })),
    DeleteBridgeIngressRule: remove,
  }
}

type Body = Input<Operations['UpdateBridgeIngressRule']>['body']

/** An ingress rule as it is stored. */
export function ingressOf(slug: string, { acme_account_ref = null, ...body }: Body): IngressRule {
  return { ...body, slug, acme_account_ref }
}

function toAnswer(row: Stored<IngressRule>): IngressAnswer {
  return { ...row, created_at: row.created_at.toISOString(), updated_at: row.updated_at.toISOString() }
}
