import type { contract } from '../../../src/shared/contract/index.ts'
import type { AnyScenarios, Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'
import { approvalPolicyScenarios, approvalScenarios } from './approvals.ts'
import { bridgeScenarios } from './bridge.ts'
import { cloudAssignmentScenarios, credentialAssignmentScenarios } from './assignments.ts'
import { artifactScenarios } from './artifacts.ts'
import { auditScenarios, authzScenarios, metaScenarios } from './authz.ts'
import { cloudCredentialScenarios } from './cloud-credentials.ts'
import { cloudScenarios } from './clouds.ts'
import { deviceFlowScenarios } from './device-flow.ts'
import { domainEventScenarios } from './domain-events.ts'
import { domainScenarios } from './domains.ts'
import { grantScenarios } from './grants.ts'
import { groupScenarios } from './groups.ts'
import { idpBindingScenarios } from './idp-bindings.ts'
import { identityScenarios } from './identities.ts'
import { capacityScenarios } from './capacity.ts'
import { integrityScenarios } from './integrity.ts'
import { invitationScenarios } from './invitations.ts'
import { objectSearchScenarios } from './object-search.ts'
import { joinTokenScenarios, nodeScenarios } from './nodes.ts'
import { executionScenarios } from './executions.ts'
import { mediatedSessionScenarios } from './mediated-sessions.ts'
import { meshKeyScenarios, meshScenarios } from './mesh.ts'
import { nodeObservationScenarios } from './node-observations.ts'
import { nodeSecretScenarios } from './node-secrets.ts'
import { nodeStateScenarios } from './node-state.ts'
import { nodeEventScenarios } from './node-events.ts'
import { labelScenarios } from './labels.ts'
import { localAccountScenarios } from './local-accounts.ts'
import { ownFactorScenarios } from './own-factors.ts'
import { policyScenarios } from './policies.ts'
import { projectScenarios } from './projects.ts'
import { providerBundleScenarios } from './provider-bundles.ts'
import { relationTupleScenarios } from './relation-tuples.ts'
import { resourceScenarios } from './resources.ts'
import { rolloutScenarios } from './rollouts.ts'
import { secretScenarios } from './secrets.ts'
import { sessionScenarios } from './sessions.ts'
import { signInScenarios } from './sign-in.ts'
import { signingKeyScenarios } from './signing-keys.ts'
import { serviceTokenScenarios } from './service-token.ts'
import { adminTokenScenarios, tokenScenarios } from './tokens.ts'

type BySurface = { readonly [S in keyof typeof contract]: Scenarios<World, (typeof contract)[S]> }
import { webhookScenarios } from './webhooks.ts'

/** Scenarios of every surface of the contract; a surface that is missing is a compile error. */
const bySurface: BySurface = {
  authz: authzScenarios,
  relationTuples: relationTupleScenarios,
  tokens: tokenScenarios,
  adminTokens: adminTokenScenarios,
  deviceFlow: deviceFlowScenarios,
  idpBindings: idpBindingScenarios,
  identities: identityScenarios,
  invitations: invitationScenarios,
  objectSearch: objectSearchScenarios,
  domainEvents: domainEventScenarios,
  domains: domainScenarios,
  localAccounts: localAccountScenarios,
  ownFactors: ownFactorScenarios,
  projects: projectScenarios,
  resources: resourceScenarios,
  secrets: secretScenarios,
  grants: grantScenarios,
  groups: groupScenarios,
  approvals: approvalScenarios,
  approvalPolicies: approvalPolicyScenarios,
  clouds: cloudScenarios,
  cloudCredentials: cloudCredentialScenarios,
  cloudAssignments: cloudAssignmentScenarios,
  credentialAssignments: credentialAssignmentScenarios,
  policies: policyScenarios,
  providerBundles: providerBundleScenarios,
  bridge: bridgeScenarios,
  nodeSecrets: nodeSecretScenarios,
  labels: labelScenarios,
  joinTokens: joinTokenScenarios,
  nodes: nodeScenarios,
  nodeEvents: nodeEventScenarios,
  nodeState: nodeStateScenarios,
  nodeObservations: nodeObservationScenarios,
  executions: executionScenarios,
  artifacts: artifactScenarios,
  rollouts: rolloutScenarios,
  integrity: integrityScenarios,
  capacity: capacityScenarios,
  mediatedSessions: mediatedSessionScenarios,
  meshKeys: meshKeyScenarios,
  mesh: meshScenarios,
  serviceToken: serviceTokenScenarios,
  signIn: { ...signInScenarios, ...sessionScenarios },
  signingKeys: signingKeyScenarios,
  webhooks: webhookScenarios,
  audit: auditScenarios,
  meta: metaScenarios,
}

/** The same by operation id. */
export const scenarios: AnyScenarios<World> = Object.assign({}, ...Object.values(bySurface))
