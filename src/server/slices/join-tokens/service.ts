import type { joinTokens } from '../../../shared/contract/join-tokens.ts'
import { mintJoinToken } from '../../../shared/credential-formats.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Keyring } from '../../ports/keyring.ts'
import { assignableLabels } from '../../labels/assignable-labels.ts'
import { assertAllAssignable, resolveNodeLabels } from '../../labels/node-labels.ts'
import { assertRelayLabels } from '../../labels/relay-label.ts'
import { byIdDescending } from '../../sql/keyset.ts'
import { newJoinToken, toAnswer } from './join-token.ts'
import * as store from './store.ts'

export interface JoinTokensDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
  readonly keyring: Keyring
  /** Names the installation in the tokens that it mints. */
  readonly env: string
}

const NOT_FOUND = { domain: 'domain_not_found', project: 'project_not_found', node: 'node_not_found' } as const

/** Serves the tokens that nodes join a Domain with. A revoked one is refused from the commit on, since tokens are not cached. */
export function createJoinTokens(deps: JoinTokensDeps): Handlers<typeof joinTokens> {
  const { datastore, ids, keyring, env } = deps
  return {
    async CreateJoinToken(ctx, { id: domainId, body }) {
      if (body.node_id !== undefined) await ctx.require('node-operate', `node:${body.node_id}`)
      const id = ids.next()
      const { token, prefix } = mintJoinToken(env, id)
      const { keyId, mac } = keyring.mac('fingerprint', token)
      const creation = { id, domainId, createdBy: ctx.caller.subject, at: new Date(ctx.nowMs) }
      const record = newJoinToken(creation, body, { prefix, fingerprint: mac, fingerprint_key_id: keyId })
      const keys = Object.keys(record.labels)
      const assignable = await assignableLabels(ctx, datastore.pool('interactive'), { domainId, keys })
      await assertRelayLabels(ctx, datastore.pool('interactive'), { domainId, labels: record.labels })
      await ctx.change(async (change) => {
        const { db } = change
        const bounds = { domainId, projectId: record.project_id, nodeId: record.node_id }
        const missing = await store.missingBound(db, bounds)
        if (missing !== undefined) throw problem(NOT_FOUND[missing])
        const writing = { domainId, ids, nowMs: ctx.nowMs, assignable }
        assertAllAssignable(await resolveNodeLabels(change, record.labels, writing), writing)
        await store.insertJoinToken(db, record)
      })
      ctx.header('Location', `/v1/domains/${domainId}/join-tokens`)
      return { ...toAnswer(record), token }
    },

    ListJoinTokens: (ctx, { id: domainId }) =>
      listPage(ctx, (range) => store.readJoinTokens(datastore.pool('interactive'), domainId, range), {
        positionOf: byIdDescending.positionOf,
        toAnswer,
      }),

    async DeleteJoinToken(ctx, { id: domainId, join_token_id: id }) {
      await ctx.change(async ({ db }) => {
        const isRevoked = await store.revokeJoinToken(db, { id, domainId }, new Date(ctx.nowMs))
        if (!isRevoked) throw problem('join_token_not_found')
      })
    },
  }
}
