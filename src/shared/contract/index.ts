import { adminTokens } from './admin-tokens.ts'
import { approvalPolicies } from './approval-policies.ts'
import { approvals } from './approvals.ts'
import { bridge } from './bridge.ts'
import { capacity } from './capacity.ts'
import { cloudAssignments } from './cloud-assignments.ts'
import { credentialAssignments } from './credential-assignments.ts'
import { artifacts } from './artifacts.ts'
import { audit } from './audit.ts'
import { authz } from './authz.ts'
import { cloudCredentials } from './cloud-credentials.ts'
import { clouds } from './clouds.ts'
import { deviceFlow } from './device-flow.ts'
import { executions } from './executions.ts'
import { domains } from './domains.ts'
import { grants } from './grants.ts'
import { groups } from './groups.ts'
import { identities } from './identities.ts'
import { idpBindings } from './idp-bindings.ts'
import { integrity } from './integrity.ts'
import { invitations } from './invitations.ts'
import { joinTokens } from './join-tokens.ts'
import { labels } from './labels.ts'
import { localAccounts } from './local-accounts.ts'
import { meta } from './meta.ts'
import { domainEvents } from './domain-events.ts'
import { nodeEvents } from './node-events.ts'
import { nodeSecrets } from './node-secrets.ts'
import { nodeState } from './node-state.ts'
import { nodeObservations } from './node-observations.ts'
import { meshKeys } from './mesh-keys.ts'
import { mesh } from './mesh.ts'
import { mediatedSessions } from './mediated-sessions.ts'
import { nodes } from './nodes.ts'
import { objectSearch } from './object-search.ts'
import { ownFactors } from './own-factors.ts'
import { policies } from './policies.ts'
import { projects } from './projects.ts'
import { providerBundles } from './provider-bundles.ts'
import { relationTuples } from './relation-tuples.ts'
import { resources } from './resources.ts'
import { rollouts } from './rollouts.ts'
import { secrets } from './secrets.ts'
import { serviceToken } from './service-token.ts'
import { signIn } from './sign-in.ts'
import { signingKeys } from './signing-keys.ts'
import { tokens } from './tokens.ts'
import { webhooks } from './webhooks.ts'

/** Every surface of the API: the only list. */
export const contract = {
  authz,
  relationTuples,
  tokens,
  adminTokens,
  signIn,
  deviceFlow,
  serviceToken,
  idpBindings,
  invitations,
  localAccounts,
  ownFactors,
  identities,
  domains,
  projects,
  resources,
  secrets,
  cloudAssignments,
  credentialAssignments,
  grants,
  groups,
  labels,
  objectSearch,
  policies,
  bridge,
  approvals,
  approvalPolicies,
  clouds,
  cloudCredentials,
  providerBundles,
  joinTokens,
  nodes,
  domainEvents,
  nodeEvents,
  nodeState,
  nodeObservations,
  nodeSecrets,
  executions,
  artifacts,
  rollouts,
  integrity,
  capacity,
  mediatedSessions,
  meshKeys,
  mesh,
  signingKeys,
  webhooks,
  audit,
  meta,
} as const
