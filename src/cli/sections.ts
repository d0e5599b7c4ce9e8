/** How the top-level help groups nouns and verbs. A noun that is in none of them comes under the last. */
export const SECTIONS: readonly { readonly title: string; readonly nouns: readonly string[] }[] = [
  { title: 'Get started', nouns: ['serve', 'login', 'logout', 'whoami', 'status', 'doctor'] },
  { title: 'Fleet', nouns: ['nodes', 'join-tokens', 'agent-sim'] },
  { title: 'Tenancy', nouns: ['domains', 'projects', 'resources'] },
  { title: 'Access', nouns: ['identities', 'service-identities', 'groups', 'grants', 'tokens', 'authz', 'audit'] },
  { title: 'Tools', nouns: ['contexts', 'config', 'api', 'openapi', 'completion', 'help'] },
  { title: 'More', nouns: [] },
]
