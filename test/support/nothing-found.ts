import type { AuthzInsight } from '../../src/server/ports/authz-insight.ts'
import type { AuthzLookups } from '../../src/server/ports/authz-lookups.ts'
import type { AuthzReconciler } from '../../src/server/ports/authz-reconciler.ts'

interface NothingFound {
  readonly lookups: AuthzLookups
  readonly insight: AuthzInsight
  readonly reconciler: AuthzReconciler
}

/** Engines that know of nothing, where a backend brings none of its own. */
export const nothingFound: NothingFound = {
  lookups: { resources: () => [], subjects: () => [] },
  insight: {
    explain: ({ resource, relation }) => ({
      outcome: 'denied',
      tree: { kind: 'permission', outcome: 'denied', object: resource, name: relation, parts: [] },
      remedies: [],
    }),
    impact: () => ({ changes: [], count: 0, isComplete: true }),
  },
  reconciler: { reconcile: async () => ({ checked: 0, granted: 0, revoked: 0, unresolved: 0 }) },
}
