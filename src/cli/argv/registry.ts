import type { Manifest } from '../../shared/contract/manifest-format.ts'
import { adminCommands } from '../commands/admin/commands.ts'
import { agentCommands } from '../commands/agent/commands.ts'
import { approvalsCommands } from '../commands/approvals/commands.ts'
import { artifactsCommands } from '../commands/artifacts/commands.ts'
import { auditCommands } from '../commands/audit/commands.ts'
import { authzCommands } from '../commands/authz/commands.ts'
import { bridgeCommands } from '../commands/bridge/commands.ts'
import { bundlesCommands } from '../commands/bundles/commands.ts'
import { capacityCommands } from '../commands/capacity/commands.ts'
import { cloudAssignmentsCommands } from '../commands/cloud-assignments/commands.ts'
import { cloudCredentialsCommands } from '../commands/cloud-credentials/commands.ts'
import { cloudsCommands } from '../commands/clouds/commands.ts'
import { completionCommands } from '../commands/completion/commands.ts'
import { configCommands } from '../commands/config/commands.ts'
import { contextsCommands } from '../commands/contexts/commands.ts'
import { credentialsCommands } from '../commands/credentials/commands.ts'
import { eventsCommands } from '../commands/events/commands.ts'
import { grantsCommands } from '../commands/grants/commands.ts'
import { groupsCommands } from '../commands/groups/commands.ts'
import { helpCommands } from '../commands/help/commands.ts'
import { idpCommands } from '../commands/idp/commands.ts'
import { labelsCommands } from '../commands/labels/commands.ts'
import { nodesCommands } from '../commands/nodes/commands.ts'
import { objectsCommands } from '../commands/objects/commands.ts'
import { policiesCommands } from '../commands/policies/commands.ts'
import { rolloutsCommands } from '../commands/rollouts/commands.ts'
import { serviceIdentitiesCommands } from '../commands/service-identities/commands.ts'
import { tokensCommands } from '../commands/tokens/commands.ts'
import { tuplesCommands } from '../commands/tuples/commands.ts'
import { violationsCommands } from '../commands/violations/commands.ts'
import { webhooksCommands } from '../commands/webhooks/commands.ts'
import { HOST_KEY_WORDS, PROXY_WORDS } from '../commands/node-sessions/ssh-environment.ts'
import { oneWordCommands } from '../commands/one-word-commands.ts'
import { operationOf } from '../session/noun-lists.ts'
import type { CommandRow } from './command.ts'
import type { OwnCommand, OwnCommands } from './own-commands.ts'

/** The commands of each noun that has some of its own. */
export const NOUNS: readonly OwnCommands[] = [
  oneWordCommands,
  agentCommands,
  adminCommands,
  serviceIdentitiesCommands,
  tokensCommands,
  authzCommands,
  tuplesCommands,
  approvalsCommands,
  artifactsCommands,
  auditCommands,
  nodesCommands,
  eventsCommands,
  contextsCommands,
  configCommands,
  completionCommands,
  helpCommands,
  grantsCommands,
  groupsCommands,
  idpCommands,
  cloudCredentialsCommands,
  cloudsCommands,
  bundlesCommands,
  cloudAssignmentsCommands,
  credentialsCommands,
  labelsCommands,
  objectsCommands,
  policiesCommands,
  bridgeCommands,
  rolloutsCommands,
  violationsCommands,
  capacityCommands,
  webhooksCommands,
]

/**
 * All commands: those of the nouns, then those that the contract describes. A command of a noun takes the place of the one
 * that the contract describes with the same words.
 */
export function commandRows(manifest: Manifest): readonly CommandRow[] {
  const own = NOUNS.flatMap((commands) => Object.entries(commands))
  const added = own.flatMap(([words, { summary, load }]) => (summary === undefined ? [] : [{ words, summary, load }]))
  return [...added, ...HIDDEN, ...contractRows(manifest, new Map(own))]
}

function contractRows(manifest: Manifest, own: ReadonlyMap<string, OwnCommand>): readonly CommandRow[] {
  return Object.entries(manifest.index).flatMap(([id, { command }]) => {
    const inPlace = own.get(command?.words ?? '')
    if (command === undefined || inPlace?.summary !== undefined) return []
    return [{ ...command, load: inPlace?.load ?? derivedLoad(id) }]
  })
}

function derivedLoad(id: string): CommandRow['load'] {
  return async (manifest) => (await import('../derive/derive.ts')).derivedCommand(operationOf(manifest, id), manifest)
}

/** Commands that other programs call. */
const HIDDEN: readonly CommandRow[] = [
  {
    words: '__complete',
    summary: 'Offer what the last word of a command line may name; completion scripts call it',
    hidden: true,
    load: async () => (await import('../commands/complete.ts')).completeOver(commandRows),
  },
  {
    words: PROXY_WORDS,
    summary: 'Pass stdin and stdout through a session; ssh calls it for ctl ssh',
    hidden: true,
    load: async () => (await import('../commands/node-sessions/ssh-proxy.ts')).sshProxy,
  },
  {
    words: HOST_KEY_WORDS,
    summary: 'Print the host key of a node if it is the reported one; ssh calls it for ctl ssh',
    hidden: true,
    load: async () => (await import('../commands/node-sessions/ssh-host-key.ts')).sshHostKey,
  },
]
