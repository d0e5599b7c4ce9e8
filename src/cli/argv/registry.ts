import type { Manifest } from '../../shared/contract/manifest-format.ts'
import type { CommandRow } from './command.ts'

/** All commands: those with files of their own, then those that the contract describes. */
export function commandRows(manifest: Manifest): readonly CommandRow[] {
  return [...OWN_COMMANDS, ...derivedRows(manifest)]
}

function derivedRows(manifest: Manifest): readonly CommandRow[] {
  return Object.values(manifest.operations).flatMap((operation) => {
    const { cli } = operation
    if (cli === undefined || cli.custom === true) return []
    const derived = async () => (await import('../derive/derive.ts')).derivedCommand(operation, manifest)
    return [{ words: cli.command, summary: cli.summary ?? operation.summary, load: WITH_MORE[operation.id] ?? derived }]
  })
}

/** Commands of operations that take more than the operation does, by its id. */
const WITH_MORE: Readonly<Record<string, CommandRow['load']>> = {
  ListDomainGrants: async (manifest) => (await import('../commands/grants/lists.ts')).listGrants(manifest),
  ListPlatformGrants: async (manifest) => (await import('../commands/grants/lists.ts')).listPlatformGrants(manifest),
  CreateDomainGrant: async (manifest) => (await import('../commands/grants/changes.ts')).createGrant(manifest),
  DeleteDomainGrant: async (manifest) => (await import('../commands/grants/changes.ts')).deleteGrant(manifest),
  CreatePlatformGrant: async (manifest) =>
    (await import('../commands/grants/changes.ts')).createPlatformGrant(manifest),
  DeletePlatformGrant: async (manifest) =>
    (await import('../commands/grants/changes.ts')).deletePlatformGrant(manifest),
  PostAdminUsers: async (manifest) => (await import('../commands/admin/users/add.ts')).add(manifest),
  DeleteGroup: async (manifest) => (await import('../commands/groups/delete.ts')).deleteGroup(manifest),
  PutGroupMember: async (manifest) => (await import('../commands/groups/members.ts')).addMember(manifest),
  DeleteGroupMember: async (manifest) => (await import('../commands/groups/members.ts')).removeMember(manifest),
  PatchAdminIdPByID: async (manifest) => (await import('../commands/idp/changes.ts')).updateBinding(manifest),
  DeleteAdminIdPByID: async (manifest) => (await import('../commands/idp/changes.ts')).deleteBinding(manifest),
  PostAdminIdPTest: async (manifest) => (await import('../commands/idp/test.ts')).testBinding(manifest),
  PatchNode: async (manifest) => (await import('../commands/nodes/update.ts')).update(manifest),
  CreateServiceIdentity: async (manifest) =>
    (await import('../commands/service-identities/create.ts')).create(manifest),
  UpdateServiceIdentity: async (manifest) =>
    (await import('../commands/service-identities/patches.ts')).change(manifest),
  ListRelationTuples: async (manifest) => (await import('../commands/tuples/list.ts')).list(manifest),
  CreateRelationTuple: async (manifest) => (await import('../commands/tuples/create.ts')).create(manifest),
  PatchRelationTuple: async (manifest) => (await import('../commands/tuples/update.ts')).update(manifest),
  DeleteRelationTuple: async (manifest) => (await import('../commands/tuples/delete.ts')).deleteTuple(manifest),
  BulkCreateRelationTuples: async (manifest) => (await import('../commands/tuples/import.ts')).importTuples(manifest),
}

const OWN_COMMANDS: readonly CommandRow[] = [
  {
    words: 'serve',
    summary: 'Run a server: storage, authorization and API in one process',
    load: async () => (await import('../commands/serve.ts')).serve,
  },
  {
    words: 'admin bootstrap-token',
    summary: 'Issue another bootstrap token, beside a stopped server or on its database',
    load: async () => (await import('../commands/serve.ts')).bootstrapToken,
  },
  {
    words: 'admin after-restore',
    summary: 'Tell a restored datastore so, before a server starts on it, so that agents pull their state',
    load: async () => (await import('../commands/serve.ts')).afterRestore,
  },
  {
    words: 'admin master-key rotate',
    summary: 'Wrap the keyring under a new master key, beside a stopped server or on its database',
    load: async () => (await import('../commands/serve.ts')).rotateMasterKey,
  },
  {
    words: 'admin users disable',
    summary: 'Disable local accounts and end their sessions',
    load: async (manifest) => (await import('../commands/admin/users/patches.ts')).disable(manifest),
  },
  {
    words: 'admin users enable',
    summary: 'Let disabled local accounts sign in again',
    load: async (manifest) => (await import('../commands/admin/users/patches.ts')).enable(manifest),
  },
  {
    words: 'admin users reset-factors',
    summary: 'Forget passkeys and authenticator apps of local accounts and end their sessions',
    load: async (manifest) => (await import('../commands/admin/users/patches.ts')).resetFactors(manifest),
  },
  {
    words: 'admin users reset-password',
    summary: 'Give local accounts a new one-time password and end their sessions',
    load: async (manifest) => (await import('../commands/admin/users/patches.ts')).resetPassword(manifest),
  },
  {
    words: 'service-identities list',
    summary: 'List the service identities of a Domain, newest first',
    load: async (manifest) => (await import('../commands/service-identities/views.ts')).list(manifest),
  },
  {
    words: 'service-identities show',
    summary: 'Show a service identity',
    load: async (manifest) => (await import('../commands/service-identities/views.ts')).show(manifest),
  },
  {
    words: 'service-identities disable',
    summary: 'Refuse the tokens and assertions of service identities from now on',
    load: async (manifest) => (await import('../commands/service-identities/patches.ts')).disable(manifest),
  },
  {
    words: 'service-identities enable',
    summary: 'Let disabled service identities authenticate again',
    load: async (manifest) => (await import('../commands/service-identities/patches.ts')).enable(manifest),
  },
  {
    words: 'agent-sim',
    summary: 'Play a fleet of node agents against the server',
    load: async () => (await import('../commands/agent-sim.ts')).agentSim,
  },
  {
    words: 'login',
    summary: 'Sign in to a server and keep the credential',
    load: async () => (await import('../commands/login.ts')).login,
  },
  {
    words: 'logout',
    summary: 'Forget the credential of a context on this machine',
    load: async () => (await import('../commands/logout.ts')).logout,
  },
  {
    words: 'whoami',
    summary: 'Show who you are to the server',
    load: async (manifest) => (await import('../commands/whoami.ts')).whoami(manifest),
  },
  {
    words: 'status',
    summary: 'Show server, identity and fleet on one screen',
    load: async () => (await import('../commands/status.ts')).status,
  },
  {
    words: 'doctor',
    summary: 'Look for what is wrong here and with the server',
    load: async () => (await import('../commands/doctor.ts')).doctor,
  },
  {
    words: 'tokens issue',
    summary: 'Issue an API token, for yourself or with --for for another identity',
    load: async (manifest) => (await import('../commands/tokens/issue.ts')).issue(manifest),
  },
  {
    words: 'tokens list',
    summary: 'List API tokens, newest first',
    load: async (manifest) => (await import('../commands/tokens/list.ts')).list(manifest),
  },
  {
    words: 'tokens revoke',
    summary: 'Revoke API tokens at once',
    load: async (manifest) => (await import('../commands/tokens/revoke.ts')).revoke(manifest),
  },
  {
    words: 'tokens rotate',
    summary: 'Replace an API token; the old one works a while longer',
    load: async (manifest) => (await import('../commands/tokens/rotate.ts')).rotate(manifest),
  },
  {
    words: 'authz check',
    summary: 'Ask whether a subject holds a relation on an object',
    load: async (manifest) => (await import('../commands/authz/check.ts')).check(manifest),
  },
  {
    words: 'authz explain',
    summary: 'Show why a check comes out as it does, and what would allow it',
    load: async (manifest) => (await import('../commands/authz/explain.ts')).explain(manifest),
  },
  {
    words: 'authz who-can',
    summary: 'Find everyone who holds a relation on an object',
    load: async (manifest) => (await import('../commands/authz/who-can.ts')).whoCan(manifest),
  },
  {
    words: 'authz what-can',
    summary: 'Find everything that a subject may do',
    load: async (manifest) => (await import('../commands/authz/what-can.ts')).whatCan(manifest),
  },
  {
    words: 'authz lookup-resources',
    summary: 'Find every object of a type on which a subject holds a relation',
    load: async (manifest) => (await import('../commands/authz/lookup-resources.ts')).lookupResources(manifest),
  },
  {
    words: 'authz lookup-subjects',
    summary: 'Find every subject of a type that holds a relation on an object',
    load: async (manifest) => (await import('../commands/authz/lookup-subjects.ts')).lookupSubjects(manifest),
  },
  {
    words: 'authz impact',
    summary: 'Try changes and show who would gain or lose what',
    load: async (manifest) => (await import('../commands/authz/impact.ts')).impact(manifest),
  },
  {
    words: 'tuples export',
    summary: 'Write the tuples of a Project so that they can be imported again',
    load: async (manifest) => (await import('../commands/tuples/export.ts')).exportTuples(manifest),
  },
  {
    words: 'authz validate',
    summary: 'Run policy tests: validation files of SpiceDB, without a server',
    load: async () => (await import('../commands/authz/validate.ts')).validate,
  },
  {
    words: 'audit list',
    summary: 'List audited decisions, newest first',
    load: async (manifest) => (await import('../commands/audit/list.ts')).list(manifest),
  },
  {
    words: 'audit verify',
    summary: 'Verify the chain of audited decisions, or an export of it with the public keys alone',
    load: async (manifest) => (await import('../commands/audit/verify.ts')).verify(manifest),
  },
  {
    words: 'audit export',
    summary: 'Write sealed decisions with their hashes and signed heads as JSON lines',
    load: async (manifest) => (await import('../commands/audit/export.ts')).exportChain(manifest),
  },
  {
    words: 'audit tail',
    summary: 'Show audited decisions as they come',
    load: async (manifest) => (await import('../commands/audit/tail.ts')).tail(manifest),
  },
  {
    words: 'nodes events',
    summary: 'Show the signed events of a node, those that are kept or those that come',
    load: async (manifest) => (await import('../commands/nodes/events.ts')).events(manifest),
  },
  {
    words: 'nodes rotate',
    summary: 'Rotate the keys of a node, or of a fleet in waves with a proof at the end',
    load: async () => (await import('../commands/nodes/rotate.ts')).rotate,
  },
  {
    words: 'nodes wait',
    summary: 'Wait until nodes are in a state',
    load: async () => (await import('../commands/nodes/wait.ts')).wait,
  },
  {
    words: 'nodes prune',
    summary: 'Deregister nodes that have been silent for long',
    load: async () => (await import('../commands/nodes/prune.ts')).prune,
  },
  {
    words: 'nodes topology',
    summary: 'Show how the nodes of a Domain reach each other: table, tree, or a picture',
    load: async (manifest) => (await import('../commands/nodes/topology.ts')).topology(manifest),
  },
  {
    words: 'events verify',
    summary: 'Verify saved events of nodes: their signatures, and that none is missing',
    load: async (manifest) => (await import('../commands/events/verify.ts')).verify(manifest),
  },
  {
    words: 'contexts list',
    summary: 'List contexts',
    load: async () => (await import('../commands/contexts/list.ts')).list,
  },
  {
    words: 'contexts add',
    summary: 'Add a context: a server with the choices that go with it',
    load: async () => (await import('../commands/contexts/add.ts')).add,
  },
  {
    words: 'contexts use',
    summary: 'Choose the context that commands use, or change one',
    load: async () => (await import('../commands/contexts/use.ts')).use,
  },
  {
    words: 'contexts previous',
    summary: 'Go back to the context used before',
    load: async () => (await import('../commands/contexts/previous.ts')).previous,
  },
  {
    words: 'contexts rename',
    summary: 'Rename a context',
    load: async () => (await import('../commands/contexts/rename.ts')).rename,
  },
  {
    words: 'contexts remove',
    summary: 'Remove contexts with their credentials',
    load: async () => (await import('../commands/contexts/remove.ts')).remove,
  },
  {
    words: 'config view',
    summary: 'Show the settings in force',
    load: async () => (await import('../commands/config/view.ts')).view,
  },
  {
    words: 'api',
    summary: 'Make any request of the API',
    load: async () => (await import('../commands/api.ts')).api,
  },
  {
    words: 'openapi',
    summary: 'Print the OpenAPI document of the server',
    load: async () => (await import('../commands/openapi.ts')).openapi,
  },
  {
    words: 'completion bash',
    summary: 'Print the completion script for bash',
    load: async () => (await import('../commands/completion/print.ts')).bash,
  },
  {
    words: 'completion zsh',
    summary: 'Print the completion script for zsh',
    load: async () => (await import('../commands/completion/print.ts')).zsh,
  },
  {
    words: 'completion fish',
    summary: 'Print the completion script for fish',
    load: async () => (await import('../commands/completion/print.ts')).fish,
  },
  {
    words: 'completion install',
    summary: 'Install completion for your shell',
    load: async () => (await import('../commands/completion/install.ts')).install,
  },
  {
    words: '__complete',
    summary: 'Offer what the last word of a command line may name; completion scripts call it',
    hidden: true,
    load: async () => (await import('../commands/complete.ts')).completeOver(commandRows),
  },
  {
    words: 'help exit-codes',
    summary: 'Explain the exit codes',
    load: async () => (await import('../commands/help/exit-codes.ts')).exitCodes,
  },
  {
    words: 'help flags',
    summary: 'Explain the flags that many commands share',
    load: async () => (await import('../commands/help/flags.ts')).flags,
  },
]
