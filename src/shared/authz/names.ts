/**
 * The API's name of a relation or permission, from the engine's: `node_agent` is `node-agent`, and the role
 * `auditor_role`, named so beside the permission `auditor`, is `auditor` (decisions: Authorization). The way back is a
 * look-up by API name in the model, since it depends on whether a tuple or a question is meant.
 */
export function apiName(engineName: string): string {
  const bare = engineName.endsWith(ROLE_SUFFIX) ? engineName.slice(0, -ROLE_SUFFIX.length) : engineName
  return bare.replaceAll('_', '-')
}

const ROLE_SUFFIX = '_role'
